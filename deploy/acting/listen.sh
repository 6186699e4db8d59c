#!/usr/bin/env bash
# Give each event of a queue to a script, and forget those that it could judge.
#
#   listen.sh QUEUE_URL SCRIPT [OPTIONS OF THE SCRIPT]      until stopped; needs jq and the AWS CLI
#
# A script that fails leaves its event in the queue: it comes again, and after the queue's
# maxReceiveCount it goes where the queue sends what is dead.
set -euo pipefail
queue=$1
shift
while :; do
  answer=$(aws sqs receive-message --queue-url "$queue" --wait-time-seconds 20 --output json)
  [ -n "$answer" ] || continue
  if jq -r '.Messages[0].Body' <<<"$answer" | "$@"; then
    aws sqs delete-message --queue-url "$queue" --receipt-handle "$(jq -r '.Messages[0].ReceiptHandle' <<<"$answer")"
  fi
done
