# Written by module.py of template.yaml: change that, and run this again.

output "emitter_log_group_name" {
  description = "For whoever starts emitters; give it to neuron-emf run as --log-group."
  value       = aws_cloudformation_stack.this.outputs["EmitterLogGroupName"]
}

output "emitter_policy_arn" {
  description = "For whoever owns the instances; attach it to their instance role or task role."
  value       = aws_cloudformation_stack.this.outputs["EmitterPolicyArn"]
}

output "dashboard_name" {
  description = "For whoever looks; it is under CloudWatch, Dashboards, see docs/reference/looking.md."
  value       = aws_cloudformation_stack.this.outputs["DashboardName"]
}

output "pipeline_dashboard_name" {
  description = "For the operator; whether lines become rollups, and what was lost on the way."
  value       = aws_cloudformation_stack.this.outputs["PipelineDashboardName"]
}

output "rollups_log_group_name" {
  description = "For whoever reads rollups in Logs Insights, with the names behind the numbers."
  value       = aws_cloudformation_stack.this.outputs["RollupsLogGroupName"]
}

output "ingest_log_group_name" {
  description = "For whoever looks for the reason why a line was quarantined."
  value       = aws_cloudformation_stack.this.outputs["IngestLogGroupName"]
}

output "records_stream_arn" {
  description = "For whoever lets other accounts deliver here; the target of a destination, see docs/how-to/cross-account.md."
  value       = lookup(aws_cloudformation_stack.this.outputs, "RecordsStreamArn", null)
}

output "alarm_topic_arn" {
  description = "For whoever wants to be told; subscribe to it. Pipeline alarms and explain publish there."
  value       = aws_cloudformation_stack.this.outputs["AlarmTopicArn"]
}

output "chat_topic_arn" {
  description = "For whoever wants to be told in Slack or Teams; give it to Amazon Q Developer, see docs/how-to/chat.md."
  value       = lookup(aws_cloudformation_stack.this.outputs, "ChatTopicArn", null)
}

output "explain_log_group_name" {
  description = "For whoever looks for the messages that were sent; each is a line of Kind message."
  value       = aws_cloudformation_stack.this.outputs["ExplainLogGroupName"]
}

output "undelivered_queue_url" {
  description = "For the operator; holds what the functions failed on after the last attempt."
  value       = aws_cloudformation_stack.this.outputs["UndeliveredQueueUrl"]
}

output "records_table_name" {
  description = "For the operator; the minutes in flight and the state of close."
  value       = aws_cloudformation_stack.this.outputs["RecordsTableName"]
}

output "ingest_function_name" {
  description = "For the operator; its Errors and Duration tell whether lines arrive."
  value       = aws_cloudformation_stack.this.outputs["IngestFunctionName"]
}

output "close_function_name" {
  description = "For the operator; its Errors and Duration tell whether minutes are closed."
  value       = aws_cloudformation_stack.this.outputs["CloseFunctionName"]
}

output "departure_function_name" {
  description = "For the operator; its Errors tell whether stopped instances are known to be gone."
  value       = aws_cloudformation_stack.this.outputs["DepartureFunctionName"]
}

output "explain_function_name" {
  description = "For the operator; its Errors tell whether alarms are put into words."
  value       = aws_cloudformation_stack.this.outputs["ExplainFunctionName"]
}
