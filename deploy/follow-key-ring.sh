#!/bin/sh
# Copies a key ring to where only its owner may read it, and again whenever it changes, until it is stopped. Kubernetes
# gives secrets as files that a group may read, and a key ring is for its owner alone.
#
# Usage: follow-key-ring.sh [--once] <from> <to>
set -eu

once=no
if [ "$1" = --once ]; then
  once=yes
  shift
fi
from=$1
to=$2

trap 'exit 0' TERM INT
umask 077
while :; do
  # A mount that is being replaced is missing for a moment: the next look finds it.
  if ! cmp -s "$from" "$to" && cat "$from" >"$to.new"; then
    # Whoever reads it sees the whole of the one or of the other.
    mv "$to.new" "$to"
  fi
  if [ "$once" = yes ]; then
    test -s "$to"
    exit
  fi
  sleep 5 &
  wait $! || exit 0
done
