#!/bin/sh
# Sends a consent by Temporal's HTTP API, encrypted by the codec server. Fails where there is no open journey (HTTP 404):
# then the message is for recordLateConsent, as temporal-cli/send-consent.sh has it.
#
#     send-consent.sh journey-LOAN-1 consent.json
set -eu
workflow_id=$1
consent_file=$2

# The token goes in by a file that curl reads: arguments are seen by everybody on the machine.
authorization=$(mktemp)
trap 'rm -f "$authorization"' EXIT
printf 'header = "Authorization: Bearer %s"\n' "$(cat "$CODEC_SERVER_TOKEN_FILE")" >"$authorization"

# metadata.encoding is "json/plain" in base64.
payload=$(printf '{"metadata":{"encoding":"anNvbi9wbGFpbg=="},"data":"%s"}' "$(base64 <"$consent_file" | tr -d '\n')")
encrypted=$(printf '{"payloads":[%s]}' "$payload" |
  curl --silent --show-error --fail --config "$authorization" \
    --header 'Content-Type: application/json' --header "X-Namespace: $TEMPORAL_NAMESPACE" \
    --data-binary @- "$CODEC_SERVER_URL/encode")

printf '{"input":%s}' "$encrypted" |
  curl --silent --show-error --fail \
    --header 'Content-Type: application/json' \
    --data-binary @- \
    "$TEMPORAL_HTTP_URL/api/v1/namespaces/$TEMPORAL_NAMESPACE/workflows/$workflow_id/signal/consent"
