#!/bin/sh
# Sends a consent by the Temporal CLI, encrypted by the codec server, also where there is no open journey:
#
#     send-consent.sh journey-LOAN-4 consent.json
set -eu

# As --codec-endpoint and --codec-auth; arguments are seen by everybody on the machine. In development there is no token.
export TEMPORAL_CODEC_ENDPOINT="$CODEC_SERVER_URL"
TEMPORAL_CODEC_AUTH="Bearer $(cat "${CODEC_SERVER_TOKEN_FILE:-/dev/null}")"
export TEMPORAL_CODEC_AUTH

if error=$(temporal workflow signal --workflow-id "$1" --name consent --input-file "$2" 2>&1); then
  echo 'sent: what the journey refuses is in its status'
  exit 0
fi
case $error in
  *'not found'* | *'already completed'*) ;;
  *) printf '%s\n' "$error" >&2 && exit 1 ;;
esac

# A workflow of its own brings it to the ledger. It fails where the ledger refuses the message, and so does this script.
input=$(mktemp)
trap 'rm -f "$input"' EXIT
printf '{"consent":%s}' "$(cat "$2")" >"$input"
message_id=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
result=$(temporal workflow execute --type recordLateConsent --task-queue "$TASK_QUEUE" \
  --workflow-id "late-consent-${1#journey-}-$message_id" --input-file "$input" --output json)
case $result in
  *'"unmatched"'*) echo 'kept: the ledger does not know this journey, share or applicant' ;;
  *'"duplicate":true'* | *'"duplicate": true'*) echo 'recorded before' ;;
  *) echo recorded ;;
esac
