#!/bin/sh
# Sends a consent by the Temporal CLI, encrypted by the codec server:
#
#     send-consent.sh journey-LOAN-1 consent.json
set -eu

# As --codec-endpoint and --codec-auth; arguments are seen by everybody on the machine.
export TEMPORAL_CODEC_ENDPOINT="$CODEC_SERVER_URL"
TEMPORAL_CODEC_AUTH="Bearer $(cat "$CODEC_SERVER_TOKEN_FILE")"
export TEMPORAL_CODEC_AUTH

temporal workflow signal --workflow-id "$1" --name consent --input-file "$2"
