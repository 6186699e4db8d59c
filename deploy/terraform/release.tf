# A release in the folder that `neuron-emf deploy --write-template` wrote. This file uses no AWS.

variable "release" {
  description = "Folder that `neuron-emf deploy --write-template FOLDER` wrote: the template and the functions in one zip."
  type        = string
}

variable "bucket" {
  description = "Name of a bucket of yours in the region of the stack. CloudFormation and Lambda read the release there, the old one when an upgrade is rolled back."
  type        = string
}

variable "stack_name" {
  description = "Name of the stack."
  type        = string
  default     = "neuron-emf"
}

locals {
  written = file("${var.release}/template.yaml")

  # Named by the SHA-256 of its content; the folder may also have files of earlier releases.
  functions     = regex("CodeUri: ([0-9a-f]{64}\\.zip)\n", local.written)[0]
  functions_key = "neuron-emf/${local.functions}"

  template     = replace(local.written, "CodeUri: ${local.functions}\n", "CodeUri: s3://${var.bucket}/${local.functions_key}\n")
  template_key = "neuron-emf/${sha256(local.template)}.yaml"
}
