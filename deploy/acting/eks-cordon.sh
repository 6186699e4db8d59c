#!/usr/bin/env bash
# Cordon the Kubernetes node of an idle instance, so that Karpenter or the autoscaler takes it back.
#
#   eks-cordon.sh [--act] < event.json      where kubectl reaches the cluster; needs jq
#
# Looks again in the cluster: no pod on the node that has not ended may ask for Neuron devices.
set -euo pipefail
# shellcheck source=deploy/acting/event.sh
. "$(dirname "${BASH_SOURCE[0]}")/event.sh"

[ "${1:-}" != --act ] || act=true
read_event idle-instance

instance=$(member InstanceId)
nodes=$(kubectl get nodes --output json)
node=$(jq -r --arg suffix "/$instance" \
  '.items[] | select(.spec.providerID // "" | endswith($suffix)) | select(.spec.unschedulable != true) | .metadata.name' <<<"$nodes")
[ -n "$node" ] || leave "no node that takes pods is $instance"

pods=$(kubectl get pods --all-namespaces --field-selector "spec.nodeName=$node" --output json)
pod=$(jq -r '[.items[]
  | select(.status.phase | IN("Succeeded", "Failed") | not)
  | select([.spec.containers[], (.spec.initContainers // [])[]]
      | any(.resources.limits // {} | keys[] | startswith("aws.amazon.com/neuron")))
  | .metadata.namespace + "/" + .metadata.name] | first // empty' <<<"$pods")
[ -z "$pod" ] || leave "pod $pod on node $node asks for Neuron devices"

perform kubectl cordon "$node"
