# Generated from template.yaml. To change it, edit template.yaml and run module.py.

output "emitter_log_group_name" {
  description = "For running emitters; pass it to neuron-emf run as --log-group."
  value       = aws_cloudformation_stack.this.outputs["EmitterLogGroupName"]
}

output "emitter_policy_arn" {
  description = "For owners of instances; attach it to their instance role or task role."
  value       = aws_cloudformation_stack.this.outputs["EmitterPolicyArn"]
}

output "dashboard_name" {
  description = "For everyone; in the CloudWatch console under Dashboards, see docs/reference/looking.md."
  value       = lookup(aws_cloudformation_stack.this.outputs, "DashboardName", null)
}

output "rollups_log_group_name" {
  description = "For reading rollups in Logs Insights, with the names behind the numbers."
  value       = aws_cloudformation_stack.this.outputs["RollupsLogGroupName"]
}

output "ingest_log_group_name" {
  description = "For finding out why a line was quarantined."
  value       = aws_cloudformation_stack.this.outputs["IngestLogGroupName"]
}

output "records_stream_arn" {
  description = "For deliveries from other accounts; the target of a destination, see docs/how-to/restricted.md."
  value       = lookup(aws_cloudformation_stack.this.outputs, "RecordsStreamArn", null)
}

output "alarm_topic_arn" {
  description = "For notifications; subscribe to it. Pipeline alarms and explain publish to it."
  value       = aws_cloudformation_stack.this.outputs["AlarmTopicArn"]
}

output "chat_topic_arn" {
  description = "For notifications in Slack or Teams; add it to Amazon Q Developer, see docs/how-to/notifications.md."
  value       = lookup(aws_cloudformation_stack.this.outputs, "ChatTopicArn", null)
}

output "explain_log_group_name" {
  description = "For finding sent messages; each is a line of Kind message."
  value       = aws_cloudformation_stack.this.outputs["ExplainLogGroupName"]
}

output "undelivered_queue_url" {
  description = "For the operator; holds events on which a function failed its last attempt."
  value       = aws_cloudformation_stack.this.outputs["UndeliveredQueueUrl"]
}

output "records_table_name" {
  description = "For the operator; the minutes in flight and the state of close."
  value       = aws_cloudformation_stack.this.outputs["RecordsTableName"]
}

output "ingest_function_name" {
  description = "For the operator; its Errors and Duration show whether lines arrive."
  value       = aws_cloudformation_stack.this.outputs["IngestFunctionName"]
}

output "close_function_name" {
  description = "For the operator; its Errors and Duration show whether minutes are closed."
  value       = aws_cloudformation_stack.this.outputs["CloseFunctionName"]
}

output "ledger_bucket_name" {
  description = "For readers of the ledger, also after the stack is deleted."
  value       = lookup(aws_cloudformation_stack.this.outputs, "LedgerBucketName", null)
}

output "settle_function_name" {
  description = "For the operator; its Errors and Duration show whether hours are settled."
  value       = lookup(aws_cloudformation_stack.this.outputs, "SettleFunctionName", null)
}

output "digest_function_name" {
  description = "For the operator; invoke it to have the digest at once."
  value       = lookup(aws_cloudformation_stack.this.outputs, "DigestFunctionName", null)
}

output "departure_function_name" {
  description = "For the operator; its Errors show whether stopped instances are recorded as gone."
  value       = aws_cloudformation_stack.this.outputs["DepartureFunctionName"]
}

output "explain_function_name" {
  description = "For the operator; its Errors show whether alarms are explained."
  value       = aws_cloudformation_stack.this.outputs["ExplainFunctionName"]
}
