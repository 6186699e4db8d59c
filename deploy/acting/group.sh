#!/usr/bin/env bash
# Give an idle instance of an auto-scaling group back, and make the group smaller by one.
#
#   group.sh [--act] < event.json      needs jq, the AWS CLI and neuron-emf
#
# Looks again by `neuron-emf stoppable`: every guard must pass now, of its lines and of the account.
set -euo pipefail
# shellcheck source=deploy/acting/event.sh
. "$(dirname "${BASH_SOURCE[0]}")/event.sh"

[ "${1:-}" != --act ] || act=true
read_event idle-instance

instance=$(member InstanceId)
status=0
verdict=$(neuron-emf stoppable "$instance" --json) || status=$?
[ "$(jq -r '.held_back_by | type' <<<"$verdict")" = array ] || exit 3 # it said nothing: no verdict
[ "$status" = 0 ] || leave "$instance is held back by $(jq -r '.held_back_by | join(", ")' <<<"$verdict")"
read -r -a words <<<"$(jq -r .command <<<"$verdict")"
[ "${words[*]:0:3}" = "aws autoscaling terminate-instance-in-auto-scaling-group" ] ||
  leave "$instance is in no auto-scaling group"

perform "${words[@]}"
