"""
Who this instance is and which cluster it belongs to, when nobody says so.

What is known of the instance:

* `facts`             what there is to know about an instance
* `instance`          those facts, from the metadata service and the board
* `lookup`            the same in the background, again until the service answers
* `metadata_service`  the EC2 instance metadata service, version 2
* `board`             the instance id that EC2 writes on the virtual mainboard
* `machine`           a stable name for a machine that nobody names

Its cluster:

* `cluster`           the sources in their order, and what each of them said
* `cluster_source`    what a source is
* `ecs_answer`        what either endpoint of ECS says
* `ecs_task`, `ecs_agent`, `eks`, `slurm`, `auto_scaling`  one source each
* `instance_tags`     the instance's tags, from the metadata service
* `instance_tags_api` the same tags from the EC2 API, when all else has failed

Beneath both: `local_http` asks an address of this host, `small_files` reads a few lines.
"""
