# Generated from template.yaml. To change it, edit template.yaml and run module.py.

variable "alarm_email" {
  description = "E-mail address to subscribe to the alarm topic; it receives a message to confirm. Empty means no subscription."
  type        = string
  default     = ""
  nullable    = false
}

variable "price_overrides" {
  description = "USD per hour by instance type, such as trn1.32xlarge=13.5,eu-north-1/inf2.xlarge=0.4, if you do not pay the list price or if there is none, as for trn2 and trn3. Empty means the on-demand list price of each region."
  type        = string
  default     = ""
  nullable    = false
}

variable "log_group_name" {
  description = "Log group that the emitters write to, of 1 to 512 characters. This stack creates it and keeps it when the stack is deleted. A second stack in the same account and region needs another name."
  type        = string
  default     = "/neuron-emf/records"
  nullable    = false
}

variable "mode" {
  description = "How lines reach ingest. direct invokes it for each delivery. kinesis batches lines through a stream, which is cheaper for many instances (docs/explanation/cost.md). drain is for the hour between kinesis and direct."
  type        = string
  default     = "direct"
  nullable    = false

  validation {
    condition     = contains(["direct", "kinesis", "drain"], var.mode)
    error_message = "Mode must be one of direct, kinesis, drain."
  }
}

variable "cluster_name" {
  description = "Cluster that the alarms watch. Empty means every cluster separately, and CloudWatch bills the alarms by the number of clusters."
  type        = string
  default     = ""
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
    error_message = "RetentionDays must be one of 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653."
  }
}

variable "stream_shards" {
  description = "Shards of the stream if Mode uses one, 0 to 500. 0 is on-demand capacity. One deployment can at most double or halve them."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.stream_shards >= 0 && var.stream_shards <= 500
    error_message = "StreamShards must be from 0 to 500."
  }
}

variable "metrics" {
  description = "Comma-separated metrics to publish for each cluster, by their names in docs/reference/metrics.md. Metrics that alarms need are always published. Empty means the default 18."
  type        = string
  default     = ""
  nullable    = false
}

variable "grace_seconds" {
  description = "Seconds after the end of a minute for which its rollup waits for instances that have not reported, 45 to 600. Later lines are still added."
  type        = number
  default     = 120
  nullable    = false

  validation {
    condition     = var.grace_seconds >= 45 && var.grace_seconds <= 600
    error_message = "GraceSeconds must be from 45 to 600."
  }
}

variable "late_minutes" {
  description = "Minutes after which a late line no longer changes its rollup, 10 to 1440. The line is counted as too late and stays in the log group."
  type        = number
  default     = 120
  nullable    = false

  validation {
    condition     = var.late_minutes >= 10 && var.late_minutes <= 1440
    error_message = "LateMinutes must be from 10 to 1440."
  }
}

variable "idle_after_minutes" {
  description = "Consecutive whole minutes in which a core is not busy before it counts as idle, 1 to 1440."
  type        = number
  default     = 15
  nullable    = false

  validation {
    condition     = var.idle_after_minutes >= 1 && var.idle_after_minutes <= 1440
    error_message = "IdleAfterMinutes must be from 1 to 1440."
  }
}

variable "silent_after_minutes" {
  description = "Minutes without a line after which an instance that did not shut down cleanly counts as silent, 2 to 55. After 60 it is forgotten."
  type        = number
  default     = 5
  nullable    = false

  validation {
    condition     = var.silent_after_minutes >= 2 && var.silent_after_minutes <= 55
    error_message = "SilentAfterMinutes must be from 2 to 55."
  }
}

variable "max_clusters" {
  description = "Maximum number of clusters with rollups at a time, 1 to 1500, because any name in a line makes a cluster and each is billed for its metrics. A new cluster above it gets no rollup and is counted in RecordsRejected."
  type        = number
  default     = 500
  nullable    = false

  validation {
    condition     = var.max_clusters >= 1 && var.max_clusters <= 1500
    error_message = "MaxClusters must be from 1 to 1500."
  }
}

variable "close_memory" {
  description = "Memory of close and settle in MB, 512 to 10240. 512 is enough for 7500 instances, or for 10000 without the ledger. Each 1769 MB are a processor and a process (docs/explanation/cost.md)."
  type        = number
  default     = 512
  nullable    = false

  validation {
    condition     = var.close_memory >= 512 && var.close_memory <= 10240
    error_message = "CloseMemory must be from 512 to 10240."
  }
}

variable "paid_by_type" {
  description = "How instances of a type are paid for, such as trn1.32xlarge=committed,trn2.48xlarge=avoidable. committed is paid even if they do not run. run --paid on an instance takes precedence. Empty means that trn2, trn3 and capacity blocks are committed and all others avoidable."
  type        = string
  default     = ""
  nullable    = false
}

variable "teams" {
  description = "Team of each owner of cores, as comma-separated CLUSTER|OWNER=TEAM such as research|slurm:*=ml,*|prod/*=serving. The first rule that matches applies. Empty means that only the owner's scheduler names teams."
  type        = string
  default     = ""
  nullable    = false
}

variable "ledger" {
  description = "true keeps the core time and cost of each owner on each instance, hour by hour, in a bucket that outlives the stack. false creates no ledger."
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
    error_message = "LedgerDays must be from 35 to 3653."
  }
}

variable "ledger_bucket_name" {
  description = "Existing bucket for the ledger of this stack alone, kept by an earlier stack or created by hand as in docs/how-to/restricted.md. Its settings stay as they are. Empty means that the stack creates one."
  type        = string
  default     = ""
  nullable    = false
}

variable "athena" {
  description = "true creates a Glue database with a table over the ledger and saved queries of Athena, which an account with Lake Formation may reject. false creates none of them."
  type        = bool
  default     = false
  nullable    = false
}

variable "bill_table" {
  description = "Athena's table of AWS's hourly FOCUS 1.2 export, such as exports.focus, for the saved query chargeback of Athena=true. Empty means that there is no such query."
  type        = string
  default     = ""
  nullable    = false
}

variable "digest_schedule" {
  description = "Schedule in UTC of the digest of the last 7 days of the ledger, as an expression of EventBridge Scheduler. Empty means no digest."
  type        = string
  default     = "cron(0 8 ? * MON *)"
  nullable    = false
}

variable "digest_topic_arn" {
  description = "ARN of the SNS topic for the digest, in this account and region, such as a topic of finance. Empty means the alarm topic."
  type        = string
  default     = ""
  nullable    = false
}

variable "findings_bus" {
  description = "Event bus of this account and region for findings, such as an idle instance, as events that programs can act on (docs/how-to/acting.md). Empty means that there are no findings."
  type        = string
  default     = "default"
  nullable    = false
}

variable "idle_core_percent_threshold" {
  description = "Percent of idle cores among a cluster's known cores from which the alarm fires, 1 to 100. A core is idle if it was not busy for IdleAfterMinutes."
  type        = number
  default     = 20
  nullable    = false

  validation {
    condition     = var.idle_core_percent_threshold >= 1 && var.idle_core_percent_threshold <= 100
    error_message = "IdleCorePercentThreshold must be from 1 to 100."
  }
}

variable "idle_cost_threshold" {
  description = "Cost of a cluster's idle cores from which the alarm fires, 1 to 1000000 USD per hour. 50 is a little more than two trn1.32xlarge."
  type        = number
  default     = 50
  nullable    = false

  validation {
    condition     = var.idle_cost_threshold >= 1 && var.idle_cost_threshold <= 1000000
    error_message = "IdleCostThreshold must be from 1 to 1000000."
  }
}

variable "low_utilization_threshold" {
  description = "Mean utilization of a cluster's known cores below which the alarm fires, 0 to 100 percent. At 0 it never fires."
  type        = number
  default     = 10
  nullable    = false

  validation {
    condition     = var.low_utilization_threshold >= 0 && var.low_utilization_threshold <= 100
    error_message = "LowUtilizationThreshold must be from 0 to 100."
  }
}

variable "execution_errors_threshold" {
  description = "Failed executions of a cluster per minute from which that minute counts, 1 to 1000000. The alarm fires at 3 such minutes of 10."
  type        = number
  default     = 10
  nullable    = false

  validation {
    condition     = var.execution_errors_threshold >= 1 && var.execution_errors_threshold <= 1000000
    error_message = "ExecutionErrorsThreshold must be from 1 to 1000000."
  }
}

variable "alarm_topic_arn" {
  description = "ARN of the SNS topic that alarms notify, in this account and region. Empty means that the stack creates one; see the output AlarmTopicArn."
  type        = string
  default     = ""
  nullable    = false
}

variable "chat" {
  description = "true creates a second topic, for Slack and Teams through Amazon Q Developer in chat applications (docs/how-to/notifications.md). false creates none."
  type        = bool
  default     = false
  nullable    = false
}

variable "runbook" {
  description = "https address of the runbook; alarms and messages link to its headings. Empty means the public page docs/operations.md, for a release at its tag."
  type        = string
  default     = ""
  nullable    = false
}

variable "dashboard" {
  description = "true creates a CloudWatch dashboard for 3 USD per month, because free dashboards hold at most 50 metrics. false creates none."
  type        = bool
  default     = true
  nullable    = false
}

variable "runtime" {
  description = "Lambda runtime of all functions; one build runs on each of them. Empty means python3.13, or the runtime of a later release."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = contains(["", "python3.11", "python3.12", "python3.13", "python3.14"], var.runtime)
    error_message = "Runtime must be one of empty, python3.11, python3.12, python3.13, python3.14."
  }
}

variable "kms_key_arn" {
  description = "ARN of the KMS key for everything that this stack stores; its policy must be the one in docs/how-to/restricted.md. Empty means AWS owned keys, and an alarm topic without encryption at rest."
  type        = string
  default     = ""
  nullable    = false
}

variable "permissions_boundary_arn" {
  description = "ARN of the permissions boundary for every role of this stack, if an organization requires one. Empty means none."
  type        = string
  default     = ""
  nullable    = false
}

variable "role_path" {
  description = "Path of the stack's roles and managed policies, / or such as /monitoring/. Set it before the first deployment, because a new path replaces them, including the policy attached to instances."
  type        = string
  default     = "/"
  nullable    = false
}

variable "subnet_ids" {
  description = "Comma-separated subnet IDs for the functions, together with SecurityGroupIds. They must reach the services in docs/how-to/restricted.md. Empty means that the functions are in no VPC."
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
    AlarmEmail               = var.alarm_email
    PriceOverrides           = var.price_overrides
    LogGroupName             = var.log_group_name
    Mode                     = var.mode
    ClusterName              = var.cluster_name
    AdoptLogGroup            = tostring(var.adopt_log_group)
    RetentionDays            = tostring(var.retention_days)
    StreamShards             = tostring(var.stream_shards)
    Metrics                  = var.metrics
    GraceSeconds             = tostring(var.grace_seconds)
    LateMinutes              = tostring(var.late_minutes)
    IdleAfterMinutes         = tostring(var.idle_after_minutes)
    SilentAfterMinutes       = tostring(var.silent_after_minutes)
    MaxClusters              = tostring(var.max_clusters)
    CloseMemory              = tostring(var.close_memory)
    PaidByType               = var.paid_by_type
    Teams                    = var.teams
    Ledger                   = tostring(var.ledger)
    LedgerDays               = tostring(var.ledger_days)
    LedgerBucketName         = var.ledger_bucket_name
    Athena                   = tostring(var.athena)
    BillTable                = var.bill_table
    DigestSchedule           = var.digest_schedule
    DigestTopicArn           = var.digest_topic_arn
    FindingsBus              = var.findings_bus
    IdleCorePercentThreshold = tostring(var.idle_core_percent_threshold)
    IdleCostThreshold        = tostring(var.idle_cost_threshold)
    LowUtilizationThreshold  = tostring(var.low_utilization_threshold)
    ExecutionErrorsThreshold = tostring(var.execution_errors_threshold)
    AlarmTopicArn            = var.alarm_topic_arn
    Chat                     = tostring(var.chat)
    Runbook                  = var.runbook
    Dashboard                = tostring(var.dashboard)
    Runtime                  = var.runtime
    KmsKeyArn                = var.kms_key_arn
    PermissionsBoundaryArn   = var.permissions_boundary_arn
    RolePath                 = var.role_path
    SubnetIds                = var.subnet_ids
    SecurityGroupIds         = var.security_group_ids
  }
}
