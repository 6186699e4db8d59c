# The stack of a release. The template defines the resources; Terraform sets the parameters.

terraform {
  required_version = ">= 1.3"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

data "aws_s3_bucket" "release" {
  bucket = var.bucket
}

resource "aws_s3_object" "functions" {
  bucket      = data.aws_s3_bucket.release.id
  key         = local.functions_key
  source      = "${var.release}/${local.functions}"
  source_hash = local.functions

  lifecycle {
    create_before_destroy = true # CloudFormation reads the old object when it rolls back an upgrade
  }
}

resource "aws_s3_object" "template" {
  bucket  = data.aws_s3_bucket.release.id
  key     = local.template_key
  content = local.template

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_cloudformation_stack" "this" {
  name         = var.stack_name
  template_url = "https://${data.aws_s3_bucket.release.bucket_regional_domain_name}/${aws_s3_object.template.key}"
  parameters   = local.parameters
  capabilities = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"] # unnamed roles, and SAM's transform

  depends_on = [aws_s3_object.functions]
}
