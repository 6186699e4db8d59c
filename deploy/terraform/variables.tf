# Written by module.py of template.yaml: change that, and run this again.

variable "log_group_name" {
  description = "Log group that the emitters write to, never empty. This stack makes it and it outlives the stack, so a second stack in one account and region needs another name, and the next stack on the same group AdoptLogGroup."
  type        = string
  default     = "/neuron-emf/records"
  nullable    = false
}

variable "adopt_log_group" {
  description = "true uses the log group that is already there, kept by an earlier stack or made by hand, and leaves its retention and its key as they are. false makes it."
  type        = bool
  default     = false
  nullable    = false
}

variable "retention_days" {
  description = "Days that the stack's log groups keep their lines, 14 to 3653. At least 14, because an emitter may hold a line for 13 days and CloudWatch Logs refuses lines older than the retention."
  type        = number
  default     = 30
  nullable    = false

  validation {
    condition     = contains([14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.retention_days)
    error_message = "RetentionDays is one of 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653."
  }
}

variable "mode" {
  description = "How lines reach ingest. direct invokes it for each delivery; kinesis batches them through a stream, which is cheaper for many instances (docs/explanation/scale.md); drain delivers directly and still reads the stream, for the hour between kinesis and direct."
  type        = string
  default     = "direct"
  nullable    = false

  validation {
    condition     = contains(["direct", "kinesis", "drain"], var.mode)
    error_message = "Mode is one of direct, kinesis, drain."
  }
}

variable "stream_shards" {
  description = "Shards of the stream, 0 to 500; 0 lets Kinesis scale by itself (on demand). Only where Mode has a stream. One deployment at most doubles or halves them: from 1 to 5 by 2 and 4."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.stream_shards >= 0 && var.stream_shards <= 500
    error_message = "StreamShards is from 0 to 500."
  }
}

variable "stream_batch_size" {
  description = "Deliveries that one invocation takes from the stream at most, 1 to 10000."
  type        = number
  default     = 500
  nullable    = false

  validation {
    condition     = var.stream_batch_size >= 1 && var.stream_batch_size <= 10000
    error_message = "StreamBatchSize is from 1 to 10000."
  }
}

variable "stream_window_seconds" {
  description = "Seconds that a batch is filled before ingest is invoked, 0 to 60. More is cheaper, and GraceSeconds must leave room for it."
  type        = number
  default     = 20
  nullable    = false

  validation {
    condition     = var.stream_window_seconds >= 0 && var.stream_window_seconds <= 60
    error_message = "StreamWindowSeconds is from 0 to 60."
  }
}

variable "grace_seconds" {
  description = "Seconds after the end of a minute for which its rollup waits for instances that have not reported, 45 to 600. Later lines are still added."
  type        = number
  default     = 120
  nullable    = false

  validation {
    condition     = var.grace_seconds >= 45 && var.grace_seconds <= 600
    error_message = "GraceSeconds is from 45 to 600."
  }
}

variable "late_minutes" {
  description = "Minutes after which a late line no longer changes its rollup, 10 to 1440. It is counted as too late, and its log line stays."
  type        = number
  default     = 120
  nullable    = false

  validation {
    condition     = var.late_minutes >= 10 && var.late_minutes <= 1440
    error_message = "LateMinutes is from 10 to 1440."
  }
}

variable "idle_after_minutes" {
  description = "Whole minutes in a row that a core must not have been busy to count as idle, 1 to 1440."
  type        = number
  default     = 15
  nullable    = false

  validation {
    condition     = var.idle_after_minutes >= 1 && var.idle_after_minutes <= 1440
    error_message = "IdleAfterMinutes is from 1 to 1440."
  }
}

variable "silent_after_minutes" {
  description = "Minutes without a line after which an instance that said no goodbye counts as silent, 2 to 60."
  type        = number
  default     = 5
  nullable    = false

  validation {
    condition     = var.silent_after_minutes >= 2 && var.silent_after_minutes <= 60
    error_message = "SilentAfterMinutes is from 2 to 60."
  }
}

variable "silent_forget_minutes" {
  description = "Minutes without a line after which a silent instance is forgotten, 5 to 1440. Must be more than SilentAfterMinutes."
  type        = number
  default     = 60
  nullable    = false

  validation {
    condition     = var.silent_forget_minutes >= 5 && var.silent_forget_minutes <= 1440
    error_message = "SilentForgetMinutes is from 5 to 1440."
  }
}

variable "max_clusters" {
  description = "Clusters that have rollups at a time, 1 to 10000 clusters. Each costs at least 29 metrics, and a cluster is whatever a line names. One that is known stays; a new one beyond them has no rollup, which RecordsRefused counts. The alarms on every cluster see 500."
  type        = number
  default     = 500
  nullable    = false

  validation {
    condition     = var.max_clusters >= 1 && var.max_clusters <= 10000
    error_message = "MaxClusters is from 1 to 10000."
  }
}

variable "close_memory" {
  description = "MB of memory of close, 1769 to 10240. Each 1769 MB are a processor, and close reads a minute in a process for each. Enough for 30000 instances; docs/explanation/scale.md has other sizes."
  type        = number
  default     = 1769
  nullable    = false

  validation {
    condition     = var.close_memory >= 1769 && var.close_memory <= 10240
    error_message = "CloseMemory is from 1769 to 10240."
  }
}

variable "price_overrides" {
  description = "USD per hour by instance type, in one region or in all, such as trn1.32xlarge=13.5,eu-north-1/inf2.xlarge=0.4, where you pay something else than the list price or there is none, as for trn2 and trn3. Empty means on-demand list prices of each region."
  type        = string
  default     = ""
  nullable    = false
}

variable "paid_by_type" {
  description = "What instances of a type cost when they stop, such as trn1.32xlarge=sunk,trn2.48xlarge=avoidable: sunk is paid whether they run or not, as reserved ones are. What run --paid says on the instance goes before it. Empty means trn2, trn3 and capacity blocks are sunk, all others avoidable."
  type        = string
  default     = ""
  nullable    = false
}

variable "teams" {
  description = "Which team the owner of a core belongs to, as CLUSTER|OWNER=TEAM with commas between, such as research|slurm:*=ml,*|prod/*=serving. * is any text, and the first rule that matches counts. Where none does, it is what the owner's scheduler knows. Empty means no rules."
  type        = string
  default     = ""
  nullable    = false
}

variable "cluster_name" {
  description = "Cluster that the alarms watch. Empty means every cluster, each for itself; CloudWatch bills the alarms by the number of clusters."
  type        = string
  default     = ""
  nullable    = false
}

variable "idle_core_percent_threshold" {
  description = "Percent of a cluster's known cores that must be idle for the alarm, 1 to 100. Idle means not busy for IdleAfterMinutes."
  type        = number
  default     = 20
  nullable    = false

  validation {
    condition     = var.idle_core_percent_threshold >= 1 && var.idle_core_percent_threshold <= 100
    error_message = "IdleCorePercentThreshold is from 1 to 100."
  }
}

variable "idle_cost_threshold" {
  description = "Cost of a cluster's idle cores for the alarm, 1 to 1000000 USD per hour. It finds the few idle percent of a large cluster; 50 are two trn1.32xlarge and a little."
  type        = number
  default     = 50
  nullable    = false

  validation {
    condition     = var.idle_cost_threshold >= 1 && var.idle_cost_threshold <= 1000000
    error_message = "IdleCostThreshold is from 1 to 1000000."
  }
}

variable "low_utilization_threshold" {
  description = "Mean utilization of a cluster's known cores under which the alarm rings, 0 to 100 percent. 0 never rings."
  type        = number
  default     = 10
  nullable    = false

  validation {
    condition     = var.low_utilization_threshold >= 0 && var.low_utilization_threshold <= 100
    error_message = "LowUtilizationThreshold is from 0 to 100."
  }
}

variable "silent_instances_threshold" {
  description = "Instances of a cluster that must be silent for the alarm, 1 to 100000. Silent means for SilentAfterMinutes minutes, without a goodbye."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.silent_instances_threshold >= 1 && var.silent_instances_threshold <= 100000
    error_message = "SilentInstancesThreshold is from 1 to 100000."
  }
}

variable "ecc_errors_threshold" {
  description = "New uncorrectable memory errors of a cluster, in one of the last 60 minutes, for the alarm, 1 to 1000000. One is enough to doubt what the device has computed."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.ecc_errors_threshold >= 1 && var.ecc_errors_threshold <= 1000000
    error_message = "EccErrorsThreshold is from 1 to 1000000."
  }
}

variable "hardware_faults_threshold" {
  description = "Hardware faults in the kernel logs of a cluster, in one of the last 60 minutes, for the alarm, 1 to 1000000. Each is a device that the driver wants to be rid of."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.hardware_faults_threshold >= 1 && var.hardware_faults_threshold <= 1000000
    error_message = "HardwareFaultsThreshold is from 1 to 1000000."
  }
}

variable "execution_errors_threshold" {
  description = "Executions of a cluster that must fail in one minute for that minute to count, 1 to 1000000; the alarm wants 3 such minutes of 10."
  type        = number
  default     = 10
  nullable    = false

  validation {
    condition     = var.execution_errors_threshold >= 1 && var.execution_errors_threshold <= 1000000
    error_message = "ExecutionErrorsThreshold is from 1 to 1000000."
  }
}

variable "alarm_topic_arn" {
  description = "ARN of the SNS topic that alarms notify, in this account and region. Empty means that the stack makes one, see the output AlarmTopicArn."
  type        = string
  default     = ""
  nullable    = false
}

variable "alarm_email" {
  description = "Address that is subscribed to the alarm topic; it gets one message to confirm that. Empty means that you subscribe whom you want."
  type        = string
  default     = ""
  nullable    = false
}

variable "chat" {
  description = "true makes a second topic, for Slack and Teams by Amazon Q Developer in chat applications, see the output ChatTopicArn and docs/how-to/chat.md. false makes none."
  type        = bool
  default     = false
  nullable    = false
}

variable "runbook" {
  description = "Where your people read what an alarm means, an address or a path, never empty. Alarms and messages link to its headings. The default is the page of this release, which opens on a phone."
  type        = string
  default     = "https://github.com/neuron-emf/neuron-emf/blob/v0.1.0/docs/operations.md"
  nullable    = false
}

variable "runtime" {
  description = "Lambda runtime of all functions. One build serves each of them."
  type        = string
  default     = "python3.13"
  nullable    = false

  validation {
    condition     = contains(["python3.11", "python3.12", "python3.13", "python3.14"], var.runtime)
    error_message = "Runtime is one of python3.11, python3.12, python3.13, python3.14."
  }
}

variable "architecture" {
  description = "Processor of all functions; arm64 costs a fifth less. One build serves both."
  type        = string
  default     = "arm64"
  nullable    = false

  validation {
    condition     = contains(["arm64", "x86_64"], var.architecture)
    error_message = "Architecture is one of arm64, x86_64."
  }
}

variable "tracing" {
  description = "Active records invocations with X-Ray, which costs per trace. PassThrough records only what a caller already traces."
  type        = string
  default     = "PassThrough"
  nullable    = false

  validation {
    condition     = contains(["PassThrough", "Active"], var.tracing)
    error_message = "Tracing is one of PassThrough, Active."
  }
}

variable "ingest_concurrency" {
  description = "Invocations of ingest at a time, reserved for it and at most, 1 to 9999. Empty means no reservation; a new account has too few to reserve any."
  type        = string
  default     = ""
  nullable    = false
}

variable "close_concurrency" {
  description = "As IngestConcurrency, for close; it uses 1. Empty means no reservation."
  type        = string
  default     = ""
  nullable    = false
}

variable "departure_concurrency" {
  description = "As IngestConcurrency, for departure. Empty means no reservation."
  type        = string
  default     = ""
  nullable    = false
}

variable "explain_concurrency" {
  description = "As IngestConcurrency, for explain. Empty means no reservation."
  type        = string
  default     = ""
  nullable    = false
}

variable "kms_key_arn" {
  description = "ARN of the KMS key for everything that this stack stores; its policy must be the one in docs/how-to/deploying.md. Empty means keys of AWS, and an alarm topic without encryption at rest."
  type        = string
  default     = ""
  nullable    = false
}

variable "new_features" {
  description = "true uses what not every region has yet: field indexes, saved queries that ask for the instance, and an alarm that waits for a new stack. false leaves them out, and nothing else; neuron-emf check --deployment says which a region lacks."
  type        = bool
  default     = true
  nullable    = false
}

variable "permissions_boundary_arn" {
  description = "ARN of the managed policy that bounds every role of this stack, where an organization allows no role without one. Empty means none."
  type        = string
  default     = ""
  nullable    = false
}

variable "role_path" {
  description = "Path of the stack's roles and managed policies, / or such as /monitoring/. Decide it before the first deployment: another path makes them anew, also the policy that instances have attached."
  type        = string
  default     = "/"
  nullable    = false
}

variable "subnet_ids" {
  description = "Subnets for the functions, ids with commas between, together with SecurityGroupIds. They must reach what docs/how-to/deploying.md lists. Empty means that the functions are in no VPC."
  type        = string
  default     = ""
  nullable    = false
}

variable "security_group_ids" {
  description = "Security groups for the functions, ids with commas between, together with SubnetIds. Empty means that the functions are in no VPC."
  type        = string
  default     = ""
  nullable    = false
}

locals {
  parameters = {
    LogGroupName             = var.log_group_name
    AdoptLogGroup            = tostring(var.adopt_log_group)
    RetentionDays            = tostring(var.retention_days)
    Mode                     = var.mode
    StreamShards             = tostring(var.stream_shards)
    StreamBatchSize          = tostring(var.stream_batch_size)
    StreamWindowSeconds      = tostring(var.stream_window_seconds)
    GraceSeconds             = tostring(var.grace_seconds)
    LateMinutes              = tostring(var.late_minutes)
    IdleAfterMinutes         = tostring(var.idle_after_minutes)
    SilentAfterMinutes       = tostring(var.silent_after_minutes)
    SilentForgetMinutes      = tostring(var.silent_forget_minutes)
    MaxClusters              = tostring(var.max_clusters)
    CloseMemory              = tostring(var.close_memory)
    PriceOverrides           = var.price_overrides
    PaidByType               = var.paid_by_type
    Teams                    = var.teams
    ClusterName              = var.cluster_name
    IdleCorePercentThreshold = tostring(var.idle_core_percent_threshold)
    IdleCostThreshold        = tostring(var.idle_cost_threshold)
    LowUtilizationThreshold  = tostring(var.low_utilization_threshold)
    SilentInstancesThreshold = tostring(var.silent_instances_threshold)
    EccErrorsThreshold       = tostring(var.ecc_errors_threshold)
    HardwareFaultsThreshold  = tostring(var.hardware_faults_threshold)
    ExecutionErrorsThreshold = tostring(var.execution_errors_threshold)
    AlarmTopicArn            = var.alarm_topic_arn
    AlarmEmail               = var.alarm_email
    Chat                     = tostring(var.chat)
    Runbook                  = var.runbook
    Runtime                  = var.runtime
    Architecture             = var.architecture
    Tracing                  = var.tracing
    IngestConcurrency        = var.ingest_concurrency
    CloseConcurrency         = var.close_concurrency
    DepartureConcurrency     = var.departure_concurrency
    ExplainConcurrency       = var.explain_concurrency
    KmsKeyArn                = var.kms_key_arn
    NewFeatures              = tostring(var.new_features)
    PermissionsBoundaryArn   = var.permissions_boundary_arn
    RolePath                 = var.role_path
    SubnetIds                = var.subnet_ids
    SecurityGroupIds         = var.security_group_ids
  }
}
