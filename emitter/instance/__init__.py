"""
Who this instance is and which cluster it belongs to, when nobody says so.

What is known of the instance:

* `facts`             what there is to know about an instance
* `identity`          those facts, from the metadata service and the mainboard
* `lookup`            the same in the background, again until the service answers
* `metadata_service`  the EC2 instance metadata service, version 2
* `machine`           the id on the virtual mainboard, else a stable name

Its cluster:

* `cluster`           the sources in their order, and what each of them said
* `cluster_source`    what a source is
* `ecs_cluster`, `eks`, `slurm`, `auto_scaling`  one source each, of ECS two
* `instance_tags`     the instance's tags, from the metadata service
* `instance_tags_api` the same tags from the EC2 API, when all else has failed

Beneath both: `local_http` asks an address of this host, `small_files` reads a few lines.
"""
