#!/bin/sh
# Waits for the server and makes the namespace where it is missing. Reads TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and
# NAMESPACE_RETENTION.
set -eu

until_true() { # what is waited for, command
  what=$1
  shift
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -ge 90 ]; then
      echo "waited in vain until $what" >&2
      exit 1
    fi
    sleep 1
  done
}

until_true 'the server answers' temporal operator cluster health
if ! temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$NAMESPACE_RETENTION"
fi
# Every part of the server learns of it some seconds later.
until_true 'the namespace is known' temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE"
until_true 'the namespace has runs' temporal workflow count --namespace "$TEMPORAL_NAMESPACE"
