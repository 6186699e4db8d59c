#!/usr/bin/env bash
# Set the desired count of an idle ECS service to 0, where its tag allows it.
#
#   ecs.sh [--act] < event.json      needs jq and the AWS CLI
#
# Looks again in ECS: the service has the tag neuron-emf:scale-to-zero=true and one task, no
# deployment is under way, and its task runs since before its cores became idle.
set -euo pipefail
# shellcheck source=deploy/acting/event.sh
. "$(dirname "${BASH_SOURCE[0]}")/event.sh"

[ "${1:-}" != --act ] || act=true
read_event idle-cores

owner=$(member Owner)
cluster=$(member ClusterName)
since=$(jq -r '.detail.Since | strptime("%Y-%m-%dT%H:%MZ") | mktime' <<<"$event")
[[ $owner == ecs:*/*/* ]] || leave "$owner is no service of ECS"
service=${owner#ecs:}
service=${service%%/*}

described=$(aws ecs describe-services --cluster "$cluster" --services "$service" --include TAGS --output json)
found=$(jq '[.services[] | select(.status == "ACTIVE")] | first // empty' <<<"$described")
[ -n "$found" ] || leave "cluster $cluster has no service $service"
[ "$(jq -r '[.tags[]? | select(.key == "neuron-emf:scale-to-zero") | .value] | first' <<<"$found")" = true ] ||
  leave "service $service has no tag neuron-emf:scale-to-zero"
jq -e '.desiredCount == 1 and .runningCount == 1 and .pendingCount == 0 and (.deployments | length) == 1' \
  <<<"$found" >/dev/null || leave "service $service has not one task, or is being deployed"

listed=$(aws ecs list-tasks --cluster "$cluster" --service-name "$service" --output json)
task=$(jq -r '.taskArns[0] // empty' <<<"$listed")
[ -n "$task" ] || leave "service $service has no task"
tasks=$(aws ecs describe-tasks --cluster "$cluster" --tasks "$task" --output json)
started=$(jq -r '.tasks[0].startedAt // empty' <<<"$tasks")
[ -n "$started" ] && [ "$(date -u -d "$started" +%s)" -lt "$since" ] ||
  leave "the task of $service started after its cores became idle"

perform aws ecs update-service --cluster "$cluster" --service "$service" --desired-count 0
