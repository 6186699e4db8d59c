#!/usr/bin/env bash
# Scale the Deployment or StatefulSet of an idle pod to zero, where its annotation allows it.
#
#   eks-scale-to-zero.sh [--act] < event.json      where kubectl reaches the cluster; needs jq
#
# Looks again in the cluster: the workload has the annotation neuron-emf/scale-to-zero: "true" and one
# replica, is not being rolled out, and its pod was ready before its cores became idle: a pod that
# still loads weights is not. kubectl changes nothing when the replicas are no longer one.
set -euo pipefail
# shellcheck source=deploy/acting/event.sh
. "$(dirname "${BASH_SOURCE[0]}")/event.sh"

[ "${1:-}" != --act ] || act=true
read_event idle-cores

owner=$(member Owner)
IFS=/ read -r namespace pod _ <<<"$owner"
[[ $owner == */* && $owner != *:* ]] || leave "$owner is no pod"
found=$(kubectl get pod "$pod" --namespace "$namespace" --ignore-not-found --output json)
[ -n "$found" ] || leave "pod $namespace/$pod is gone"
ready=$(jq -r '[.status.conditions[]? | select(.type == "Ready" and .status == "True") | .lastTransitionTime] | first // empty' <<<"$found")
is_before "$ready" "$(member Since)" || leave "pod $namespace/$pod was not ready before its cores became idle"

controller() { jq -r '[.metadata.ownerReferences[]? | select(.controller) | (.kind | ascii_downcase) + "/" + .name] | first // empty' <<<"$1"; }
workload=$(controller "$found")
if [[ $workload == replicaset/* ]]; then
  found=$(kubectl get "$workload" --namespace "$namespace" --output json)
  workload=$(controller "$found")
fi
[[ $workload == deployment/* || $workload == statefulset/* ]] ||
  leave "pod $namespace/$pod is of ${workload:-no controller}"

found=$(kubectl get "$workload" --namespace "$namespace" --output json)
[ "$(jq -r '.metadata.annotations["neuron-emf/scale-to-zero"]' <<<"$found")" = true ] ||
  leave "$workload has no annotation neuron-emf/scale-to-zero"
[ "$(jq -r '.spec.replicas' <<<"$found")" = 1 ] || leave "$workload has not one replica"
jq -e '.status.observedGeneration == .metadata.generation and .status.updatedReplicas == 1 and .status.replicas == 1' \
  <<<"$found" >/dev/null || leave "$workload is being rolled out"

perform kubectl scale "$workload" --namespace "$namespace" --current-replicas=1 --replicas=0
