# Written by module.py of template.yaml: change that, and run this again.

variable "log_group_name" {
  description = "Log group that the emitters write to, never empty. This stack creates it and keeps it when the stack is deleted. A second stack in the same account and region needs another name; a new stack on the same group needs AdoptLogGroup."
  type        = string
  default     = "/neuron-emf/records"
  nullable    = false
}

variable "adopt_log_group" {
  description = "true uses an existing log group, kept by an earlier stack or created by hand, and does not change its retention or key. false creates it."
  type        = bool
  default     = false
  nullable    = false
}

variable "retention_days" {
  description = "Days that the stack's log groups keep their lines, 14 to 3653. At least 14, because an emitter may hold a line for 13 days and CloudWatch Logs rejects lines older than the retention."
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
  description = "Shards of the stream, 0 to 500; 0 is on-demand capacity. Only if Mode has a stream. One deployment can at most double or halve them: from 1 to 5 by way of 2 and 4."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.stream_shards >= 0 && var.stream_shards <= 500
    error_message = "StreamShards is from 0 to 500."
  }
}

variable "stream_batch_size" {
  description = "Maximum deliveries per invocation from the stream, 1 to 10000."
  type        = number
  default     = 500
  nullable    = false

  validation {
    condition     = var.stream_batch_size >= 1 && var.stream_batch_size <= 10000
    error_message = "StreamBatchSize is from 1 to 10000."
  }
}

variable "stream_window_seconds" {
  description = "Seconds to gather a batch before ingest is invoked, 0 to 60. More is cheaper, but GraceSeconds must leave room for it."
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
  description = "Minutes after which a late line no longer changes its rollup, 10 to 1440. It is counted as too late; its log line is kept."
  type        = number
  default     = 120
  nullable    = false

  validation {
    condition     = var.late_minutes >= 10 && var.late_minutes <= 1440
    error_message = "LateMinutes is from 10 to 1440."
  }
}

variable "idle_after_minutes" {
  description = "Consecutive whole minutes without being busy after which a core counts as idle, 1 to 1440."
  type        = number
  default     = 15
  nullable    = false

  validation {
    condition     = var.idle_after_minutes >= 1 && var.idle_after_minutes <= 1440
    error_message = "IdleAfterMinutes is from 1 to 1440."
  }
}

variable "silent_after_minutes" {
  description = "Minutes without a line after which an instance that did not shut down cleanly counts as silent, 2 to 60."
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
  description = "Maximum clusters with rollups at a time, 1 to 1500 clusters. Each is billed for at least 30 metrics, and a cluster is any name in a line. Known clusters stay; a new one above the maximum gets no rollup and is counted in RecordsRefused. An alarm on every cluster sees at most 500."
  type        = number
  default     = 500
  nullable    = false

  validation {
    condition     = var.max_clusters >= 1 && var.max_clusters <= 1500
    error_message = "MaxClusters is from 1 to 1500."
  }
}

variable "close_memory" {
  description = "Memory of close and settle in MB, 1769 to 10240. Each 1769 MB is a vCPU, and close reads a minute with one process per vCPU. Enough for 20000 instances, without the ledger for 30000; docs/explanation/scale.md has other sizes."
  type        = number
  default     = 1769
  nullable    = false

  validation {
    condition     = var.close_memory >= 1769 && var.close_memory <= 10240
    error_message = "CloseMemory is from 1769 to 10240."
  }
}

variable "price_overrides" {
  description = "USD per hour by instance type, in one region or in all, such as trn1.32xlarge=13.5,eu-north-1/inf2.xlarge=0.4, where you do not pay the list price or there is none, as for trn2 and trn3. Empty means the on-demand list price of each region."
  type        = string
  default     = ""
  nullable    = false
}

variable "paid_by_type" {
  description = "How instances of a type are paid for, such as trn1.32xlarge=sunk,trn2.48xlarge=avoidable: sunk is paid whether or not they run, as when reserved. run --paid on the instance takes precedence. Empty means trn2, trn3 and capacity blocks are sunk, all others avoidable."
  type        = string
  default     = ""
  nullable    = false
}

variable "teams" {
  description = "Team of each owner of cores, as comma-separated CLUSTER|OWNER=TEAM, such as research|slurm:*=ml,*|prod/*=serving. * matches any text, and the first matching rule applies. If none matches, the team comes from the owner's scheduler. Empty means no rules."
  type        = string
  default     = ""
  nullable    = false
}

variable "ledger" {
  description = "true keeps what each owner had of each instance, hour by hour, in a bucket that outlives the stack. false leaves all of it out."
  type        = bool
  default     = true
  nullable    = false
}

variable "ledger_days" {
  description = "Days that the ledger's objects are kept, 35 to 3653, in a bucket that the stack creates."
  type        = number
  default     = 400
  nullable    = false

  validation {
    condition     = var.ledger_days >= 35 && var.ledger_days <= 3653
    error_message = "LedgerDays is from 35 to 3653."
  }
}

variable "ledger_bucket_name" {
  description = "Existing bucket for the ledger, of this stack alone: kept by an earlier stack, or made by hand as docs/how-to/deploying.md says. The stack changes nothing about it. Empty means that it creates one."
  type        = string
  default     = ""
  nullable    = false
}

variable "athena" {
  description = "true creates a Glue database with a table over the ledger, and saved queries of Athena. An account with Lake Formation may reject the database. false creates none of it."
  type        = bool
  default     = false
  nullable    = false
}

variable "digest_schedule" {
  description = "When, in UTC, the alarm topic gets the digest of the last 7 days of the ledger, as an expression of EventBridge Scheduler. Empty means no digest."
  type        = string
  default     = "cron(0 8 ? * MON *)"
  nullable    = false
}

variable "findings_bus" {
  description = "Event bus of this account and region that close sends findings to, such as an idle instance, as events that programs can act on (docs/reference/findings.md). Without a rule for them nothing happens. Empty means that there are no findings."
  type        = string
  default     = "default"
  nullable    = false
}

variable "cluster_name" {
  description = "Cluster that the alarms watch. Empty means every cluster separately; CloudWatch bills the alarms by the number of clusters."
  type        = string
  default     = ""
  nullable    = false
}

variable "idle_core_percent_threshold" {
  description = "Percent of a cluster's known cores that are idle from which the alarm fires, 1 to 100. Idle means not busy for IdleAfterMinutes."
  type        = number
  default     = 20
  nullable    = false

  validation {
    condition     = var.idle_core_percent_threshold >= 1 && var.idle_core_percent_threshold <= 100
    error_message = "IdleCorePercentThreshold is from 1 to 100."
  }
}

variable "idle_cost_threshold" {
  description = "Cost of a cluster's idle cores from which the alarm fires, 1 to 1000000 USD per hour. It finds a few idle percent of a large cluster; 50 is a little more than two trn1.32xlarge."
  type        = number
  default     = 50
  nullable    = false

  validation {
    condition     = var.idle_cost_threshold >= 1 && var.idle_cost_threshold <= 1000000
    error_message = "IdleCostThreshold is from 1 to 1000000."
  }
}

variable "low_utilization_threshold" {
  description = "Mean utilization of a cluster's known cores below which the alarm fires, 0 to 100 percent. At 0 it never fires."
  type        = number
  default     = 10
  nullable    = false

  validation {
    condition     = var.low_utilization_threshold >= 0 && var.low_utilization_threshold <= 100
    error_message = "LowUtilizationThreshold is from 0 to 100."
  }
}

variable "silent_instances_threshold" {
  description = "Silent instances of a cluster from which the alarm fires, 1 to 100000. Silent means no line for SilentAfterMinutes without a clean shutdown."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.silent_instances_threshold >= 1 && var.silent_instances_threshold <= 100000
    error_message = "SilentInstancesThreshold is from 1 to 100000."
  }
}

variable "ecc_errors_threshold" {
  description = "New uncorrectable memory errors of a cluster, in one of the last 60 minutes, from which the alarm fires, 1 to 1000000. After one error the device's results may be wrong."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.ecc_errors_threshold >= 1 && var.ecc_errors_threshold <= 1000000
    error_message = "EccErrorsThreshold is from 1 to 1000000."
  }
}

variable "hardware_faults_threshold" {
  description = "Hardware faults in the kernel logs of a cluster, in one of the last 60 minutes, from which the alarm fires, 1 to 1000000. For each, the driver recommends an action, such as a replacement."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.hardware_faults_threshold >= 1 && var.hardware_faults_threshold <= 1000000
    error_message = "HardwareFaultsThreshold is from 1 to 1000000."
  }
}

variable "execution_errors_threshold" {
  description = "Failed executions of a cluster per minute from which that minute counts, 1 to 1000000; the alarm fires at 3 such minutes of 10."
  type        = number
  default     = 10
  nullable    = false

  validation {
    condition     = var.execution_errors_threshold >= 1 && var.execution_errors_threshold <= 1000000
    error_message = "ExecutionErrorsThreshold is from 1 to 1000000."
  }
}

variable "alarm_topic_arn" {
  description = "ARN of the SNS topic that alarms notify, in this account and region. Empty means that the stack creates one; see the output AlarmTopicArn."
  type        = string
  default     = ""
  nullable    = false
}

variable "alarm_email" {
  description = "E-mail address to subscribe to the alarm topic; it receives a message to confirm. Empty means no subscription."
  type        = string
  default     = ""
  nullable    = false
}

variable "chat" {
  description = "true creates a second topic, for Slack and Teams through Amazon Q Developer in chat applications; see the output ChatTopicArn and docs/how-to/chat.md. false creates none."
  type        = bool
  default     = false
  nullable    = false
}

variable "runbook" {
  description = "URL or path of the runbook. Alarms and messages link to its headings. Empty means the public page of the release that is deployed, which opens on a phone."
  type        = string
  default     = ""
  nullable    = false
}

variable "runtime" {
  description = "Lambda runtime of all functions; one build works with each of them. Empty means python3.13, or what a later release uses."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = contains(["", "python3.11", "python3.12", "python3.13", "python3.14"], var.runtime)
    error_message = "Runtime is one of empty, python3.11, python3.12, python3.13, python3.14."
  }
}

variable "tracing" {
  description = "Active traces invocations with X-Ray, which bills per trace. PassThrough traces only what the caller already traces."
  type        = string
  default     = "PassThrough"
  nullable    = false

  validation {
    condition     = contains(["PassThrough", "Active"], var.tracing)
    error_message = "Tracing is one of PassThrough, Active."
  }
}

variable "ingest_concurrency" {
  description = "Reserved concurrency of ingest, which is also its maximum, 1 to 9999. Empty means no reservation; a new account has too little to reserve any."
  type        = string
  default     = ""
  nullable    = false
}

variable "close_concurrency" {
  description = "As IngestConcurrency, for close, and as many for settle; each uses 1. Empty means no reservation."
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
  description = "As IngestConcurrency, for explain, and as many for digest, which uses 1. Empty means no reservation."
  type        = string
  default     = ""
  nullable    = false
}

variable "kms_key_arn" {
  description = "ARN of the KMS key for everything that this stack stores; its policy must be the one in docs/how-to/deploying.md. Empty means AWS owned keys, and an alarm topic without encryption at rest."
  type        = string
  default     = ""
  nullable    = false
}

variable "new_features" {
  description = "true uses features that not every region has yet: field indexes, saved queries with an instance parameter, and an alarm that waits for a new stack. false omits only these; neuron-emf check --deployment lists what a region lacks."
  type        = bool
  default     = true
  nullable    = false
}

variable "permissions_boundary_arn" {
  description = "ARN of the permissions boundary for every role of this stack, where an organization requires one. Empty means none."
  type        = string
  default     = ""
  nullable    = false
}

variable "role_path" {
  description = "Path of the stack's roles and managed policies, / or such as /monitoring/. Set it before the first deployment: a new path replaces them, including the policy attached to instances."
  type        = string
  default     = "/"
  nullable    = false
}

variable "subnet_ids" {
  description = "Comma-separated subnet IDs for the functions, together with SecurityGroupIds. They must reach what docs/how-to/deploying.md lists. Empty means that the functions are in no VPC."
  type        = string
  default     = ""
  nullable    = false
}

variable "security_group_ids" {
  description = "Comma-separated security group IDs for the functions, together with SubnetIds. Empty means that the functions are in no VPC."
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
    Ledger                   = tostring(var.ledger)
    LedgerDays               = tostring(var.ledger_days)
    LedgerBucketName         = var.ledger_bucket_name
    Athena                   = tostring(var.athena)
    DigestSchedule           = var.digest_schedule
    FindingsBus              = var.findings_bus
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
