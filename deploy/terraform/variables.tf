# Written by module.py of template.yaml: change that, and run this again.

variable "alarm_email" {
  description = "E-mail address that gets a message to confirm and then every notification of the alarms; empty means that nobody is subscribed."
  type        = string
  default     = ""
  nullable    = false
}

variable "price_overrides" {
  description = "USD per hour by instance type, such as trn1.32xlarge=13.5,eu-north-1/inf2.xlarge=0.4, where you do not pay the list price or there is none, as for trn2 and trn3; empty means the on-demand list price of each region."
  type        = string
  default     = ""
  nullable    = false
}

variable "log_group_name" {
  description = "Log group that the emitters write to, of 1 to 512 characters, which this stack creates and keeps when it is deleted; a second stack in the same account and region needs another name."
  type        = string
  default     = "/neuron-emf/records"
  nullable    = false
}

variable "mode" {
  description = "How lines reach ingest: direct invokes it for each delivery, kinesis batches them through a stream, which is cheaper for many instances (docs/explanation/cost.md), and drain is for the hour between kinesis and direct."
  type        = string
  default     = "direct"
  nullable    = false

  validation {
    condition     = contains(["direct", "kinesis", "drain"], var.mode)
    error_message = "Mode is one of direct, kinesis, drain."
  }
}

variable "cluster_name" {
  description = "Cluster that the alarms watch; empty means every cluster separately, and CloudWatch bills the alarms by the number of clusters."
  type        = string
  default     = ""
  nullable    = false
}

variable "adopt_log_group" {
  description = "true uses an existing log group, kept by an earlier stack or created by hand, and leaves its retention and key as they are; false creates it."
  type        = bool
  default     = false
  nullable    = false
}

variable "retention_days" {
  description = "Days that the stack's log groups keep their lines, 14 to 3653, because an emitter may hold a line for 13 days and CloudWatch Logs rejects lines older than the retention."
  type        = number
  default     = 30
  nullable    = false

  validation {
    condition     = contains([14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.retention_days)
    error_message = "RetentionDays is one of 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653."
  }
}

variable "stream_shards" {
  description = "Shards of the stream where Mode has one, 0 to 500, of which 0 is on-demand capacity; one deployment can at most double or halve them."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.stream_shards >= 0 && var.stream_shards <= 500
    error_message = "StreamShards is from 0 to 500."
  }
}

variable "metrics" {
  description = "Metrics of each cluster, as comma-separated names of docs/reference/metrics.md, beside which those that alarms need are always published; empty means the 18 usual ones."
  type        = string
  default     = ""
  nullable    = false
}

variable "grace_seconds" {
  description = "Seconds after the end of a minute for which its rollup waits for instances that have not reported, 45 to 600; later lines are still added."
  type        = number
  default     = 120
  nullable    = false

  validation {
    condition     = var.grace_seconds >= 45 && var.grace_seconds <= 600
    error_message = "GraceSeconds is from 45 to 600."
  }
}

variable "late_minutes" {
  description = "Minutes after which a late line no longer changes its rollup, 10 to 1440; it is counted as too late, and its log line is kept."
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
  description = "Minutes without a line after which an instance that did not shut down cleanly counts as silent, 2 to 55; after 60 it is forgotten."
  type        = number
  default     = 5
  nullable    = false

  validation {
    condition     = var.silent_after_minutes >= 2 && var.silent_after_minutes <= 55
    error_message = "SilentAfterMinutes is from 2 to 55."
  }
}

variable "max_clusters" {
  description = "Maximum clusters with rollups at a time, 1 to 1500 clusters, because any name in a line makes one and each is billed for its metrics; a new one above it gets no rollup and is counted in RecordsRejected."
  type        = number
  default     = 500
  nullable    = false

  validation {
    condition     = var.max_clusters >= 1 && var.max_clusters <= 1500
    error_message = "MaxClusters is from 1 to 1500."
  }
}

variable "close_memory" {
  description = "Memory of close and settle in MB, 512 to 10240, of which 512 is enough for 7500 instances, without the ledger for 10000, and each 1769 MB are a processor and a process (docs/explanation/cost.md)."
  type        = number
  default     = 512
  nullable    = false

  validation {
    condition     = var.close_memory >= 512 && var.close_memory <= 10240
    error_message = "CloseMemory is from 512 to 10240."
  }
}

variable "paid_by_type" {
  description = "How instances of a type are paid for, such as trn1.32xlarge=committed,trn2.48xlarge=avoidable, where committed is paid whether or not they run and run --paid on the instance takes precedence; empty means trn2, trn3 and capacity blocks are committed, all others avoidable."
  type        = string
  default     = ""
  nullable    = false
}

variable "teams" {
  description = "Team of each owner of cores, as comma-separated CLUSTER|OWNER=TEAM such as research|slurm:*=ml,*|prod/*=serving, of which the first that matches applies; empty means that only the owner's scheduler names teams."
  type        = string
  default     = ""
  nullable    = false
}

variable "ledger" {
  description = "true keeps what each owner had of each instance, hour by hour, in a bucket that outlives the stack; false leaves all of it out."
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
  description = "Existing bucket for the ledger, of this stack alone, kept by an earlier stack or made by hand as docs/how-to/restricted.md says, which is left as it is; empty means that the stack creates one."
  type        = string
  default     = ""
  nullable    = false
}

variable "athena" {
  description = "true creates a Glue database with a table over the ledger and saved queries of Athena, which an account with Lake Formation may reject; false creates none of it."
  type        = bool
  default     = false
  nullable    = false
}

variable "bill_table" {
  description = "Athena's table of AWS's FOCUS 1.2 export, hourly, such as exports.focus, for the saved query chargeback of Athena=true; empty means that there is no such query."
  type        = string
  default     = ""
  nullable    = false
}

variable "digest_schedule" {
  description = "When, in UTC, a topic gets the digest of the last 7 days of the ledger, as an expression of EventBridge Scheduler; empty means no digest."
  type        = string
  default     = "cron(0 8 ? * MON *)"
  nullable    = false
}

variable "digest_topic_arn" {
  description = "ARN of the SNS topic that gets the digest, in this account and region, such as that of finance; empty means the alarm topic."
  type        = string
  default     = ""
  nullable    = false
}

variable "findings_bus" {
  description = "Event bus of this account and region that gets findings, such as an idle instance, as events that programs can act on (docs/how-to/acting.md); empty means that there are no findings."
  type        = string
  default     = "default"
  nullable    = false
}

variable "idle_core_percent_threshold" {
  description = "Percent of a cluster's known cores that are idle, which is not busy for IdleAfterMinutes, from which the alarm fires, 1 to 100."
  type        = number
  default     = 20
  nullable    = false

  validation {
    condition     = var.idle_core_percent_threshold >= 1 && var.idle_core_percent_threshold <= 100
    error_message = "IdleCorePercentThreshold is from 1 to 100."
  }
}

variable "idle_cost_threshold" {
  description = "Cost of a cluster's idle cores from which the alarm fires, 1 to 1000000 USD per hour; 50 is a little more than two trn1.32xlarge."
  type        = number
  default     = 50
  nullable    = false

  validation {
    condition     = var.idle_cost_threshold >= 1 && var.idle_cost_threshold <= 1000000
    error_message = "IdleCostThreshold is from 1 to 1000000."
  }
}

variable "low_utilization_threshold" {
  description = "Mean utilization of a cluster's known cores below which the alarm fires, 0 to 100 percent; at 0 it never fires."
  type        = number
  default     = 10
  nullable    = false

  validation {
    condition     = var.low_utilization_threshold >= 0 && var.low_utilization_threshold <= 100
    error_message = "LowUtilizationThreshold is from 0 to 100."
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
  description = "ARN of the SNS topic that alarms notify, in this account and region; empty means that the stack creates one, its output AlarmTopicArn."
  type        = string
  default     = ""
  nullable    = false
}

variable "chat" {
  description = "true creates a second topic, for Slack and Teams through Amazon Q Developer in chat applications (docs/how-to/notifications.md); false creates none."
  type        = bool
  default     = false
  nullable    = false
}

variable "runbook" {
  description = "https address of the runbook, to whose headings alarms and messages link; empty means the public page docs/operations.md, of a release at its tag."
  type        = string
  default     = ""
  nullable    = false
}

variable "dashboard" {
  description = "true creates a CloudWatch dashboard, 3 USD per month, because free dashboards hold at most 50 metrics; false creates none."
  type        = bool
  default     = true
  nullable    = false
}

variable "runtime" {
  description = "Lambda runtime of all functions, for which one build does; empty means python3.13, or what a later release uses."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = contains(["", "python3.11", "python3.12", "python3.13", "python3.14"], var.runtime)
    error_message = "Runtime is one of empty, python3.11, python3.12, python3.13, python3.14."
  }
}

variable "kms_key_arn" {
  description = "ARN of the KMS key for everything that this stack stores, with the policy of docs/how-to/restricted.md; empty means AWS owned keys, and an alarm topic without encryption at rest."
  type        = string
  default     = ""
  nullable    = false
}

variable "permissions_boundary_arn" {
  description = "ARN of the permissions boundary for every role of this stack, where an organization requires one; empty means none."
  type        = string
  default     = ""
  nullable    = false
}

variable "role_path" {
  description = "Path of the stack's roles and managed policies, / or such as /monitoring/, to be set before the first deployment, because a new path replaces them, including the policy attached to instances."
  type        = string
  default     = "/"
  nullable    = false
}

variable "subnet_ids" {
  description = "Comma-separated subnet IDs for the functions, together with SecurityGroupIds, which must reach what docs/how-to/restricted.md lists; empty means that the functions are in no VPC."
  type        = string
  default     = ""
  nullable    = false
}

variable "security_group_ids" {
  description = "Comma-separated security group IDs for the functions, together with SubnetIds; empty means that the functions are in no VPC."
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
