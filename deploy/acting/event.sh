# Sourced by the scripts beside it: one event of EventBridge from standard input, and what is common.
#
# Exit 0: acted, shown as a dry run, or left alone on purpose. Anything else: something did not
# answer, nothing was done, and the same event may be given again.
# shellcheck shell=bash

MOST_MINUTES=30 # an event that waited longer says nothing of now

act=false
event=

say() { printf 'neuron-emf: %s\n' "$*" >&2; }

leave() {
  say "left alone: $*"
  exit 0
}

# A member of the finding, empty where it is missing.
member() { jq -r --arg name "$1" '.detail[$name] // empty' <<<"$event"; }

# Whether the minute of the first text lies before that of the second: ISO 8601 in UTC sorts as text.
is_before() { [[ -n $1 && ${1:0:16} < ${2:0:16} ]]; }

# Read the event and see that it is a finding of the kind, open, and not an old one.
read_event() {
  local kind=$1 age_minutes
  event=$(cat)
  [ "$(jq -r '.source + "/" + ."detail-type"' <<<"$event")" = "neuron-emf/Neuron Finding" ] ||
    leave "no finding of neuron-emf"
  [ "$(member Schema)" = 1 ] || leave "a finding of schema $(member Schema)"
  [ "$(member Kind)" = "$kind" ] || leave "a finding of kind $(member Kind), not $kind"
  [ "$(member Change)" != closed ] || leave "the finding is closed"
  age_minutes=$(jq -r '((now - (.detail.Minute | strptime("%Y-%m-%dT%H:%MZ") | mktime)) / 60) | floor' <<<"$event")
  [ "$age_minutes" -le "$MOST_MINUTES" ] || leave "the event is $age_minutes minutes old"
}

# Do it, or only show it.
perform() {
  if "$act"; then
    say "running: $*"
    "$@"
  else
    printf 'dry run, --act does it:'
    printf ' %q' "$@"
    printf '\n'
  fi
}
