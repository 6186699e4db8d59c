#!/usr/bin/env bash
# Drain the Slurm node of an idle instance, or let Slurm power it down.
#
#   slurm.sh [--power-down] [--act] < event.json      on the head node; needs jq and the AWS CLI
#
# Looks again in Slurm: the node must be idle and without a job. A job that starts in between
# finishes: neither a drain nor POWER_DOWN stops one.
set -euo pipefail
# shellcheck source=deploy/acting/event.sh
. "$(dirname "${BASH_SOURCE[0]}")/event.sh"

power_down=false
for word in "$@"; do
  case $word in
    --act) act=true ;;
    --power-down) power_down=true ;;
    *) say "Unknown option $word." && exit 2 ;;
  esac
done
read_event idle-instance

instance=$(member InstanceId)
names=$(aws ec2 describe-instances --instance-ids "$instance" --output text \
  --query 'Reservations[].Instances[].[PrivateIpAddress, PrivateDnsName]')
read -r address host <<<"$names"
nodes=$(scontrol show nodes --oneliner)
node=$(awk -v address="$address" -v host="$host" '{
  split(host, short, "."); name = ""; is_it = 0
  for (part = 1; part <= NF; part++) {
    value = substr($part, index($part, "=") + 1)
    if ($part ~ /^NodeName=/) name = value
    if ($part ~ /^Node(Addr|HostName)=/ && (value == address || value == host || value == short[1])) is_it = 1
  }
  if (is_it) print name
}' <<<"$nodes")
[ -n "$node" ] || leave "no Slurm node has the address of $instance"

state=$(sinfo --noheader --nodes="$node" --format=%T | sort -u)
[ "$state" = idle ] || leave "node $node is $state"
jobs=$(squeue --noheader --nodelist="$node" --format=%i)
[ -z "$jobs" ] || leave "node $node has job ${jobs%%$'\n'*}"

if "$power_down"; then
  [ "$(member Paid)" = avoidable ] || leave "$instance is paid for even if it is powered down"
  [ -z "$(member Owners)" ] || leave "somebody holds cores of $instance without a job: look at it, or drain it"
  perform scontrol update "NodeName=$node" State=POWER_DOWN
else
  perform scontrol update "NodeName=$node" State=DRAIN "Reason=neuron-emf: idle since $(member Since)"
fi
