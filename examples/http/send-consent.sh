#!/bin/sh
# Sends a consent by Temporal's HTTP API, encrypted by the codec server, also where there is no open journey:
#
#     send-consent.sh journey-LOAN-4 consent.json
set -eu
workflow_id=$1
consent_file=$2
api="$TEMPORAL_HTTP_URL/api/v1/namespaces/$TEMPORAL_NAMESPACE/workflows"

files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
# The token goes in by a file that curl reads: arguments are seen by everybody on the machine. In development there is none.
printf 'header = "Authorization: Bearer %s"\n' "$(cat "${CODEC_SERVER_TOKEN_FILE:-/dev/null}")" >"$files/authorization"

# Payloads on standard input, through the codec server's /encode or /decode.
coded() {
  curl --silent --show-error --fail --config "$files/authorization" \
    --header 'Content-Type: application/json' --header "X-Namespace: $TEMPORAL_NAMESPACE" \
    --data-binary @- "$CODEC_SERVER_URL/$1"
}

# metadata.encoding is "json/plain" in base64.
payloads() {
  printf '{"payloads":[{"metadata":{"encoding":"anNvbi9wbGFpbg=="},"data":"%s"}]}' "$(base64 | tr -d '\n')"
}

# Prints the HTTP status; the answer is in $files/answer.
call() {
  curl --silent --show-error --output "$files/answer" --write-out '%{http_code}' \
    --header 'Content-Type: application/json' --data-binary @- "$1"
}

encrypted=$(payloads <"$consent_file" | coded encode)
status=$(printf '{"input":%s}' "$encrypted" | call "$api/$workflow_id/signal/consent")
case $status in
  200) echo 'sent: what the journey refuses is in its status' && exit 0 ;;
  404) ;;
  *) cat "$files/answer" >&2 && exit 1 ;;
esac

# There is no open journey: a workflow of its own brings the consent to the ledger. 16 random hex digits are its id.
late_id="late-consent-${workflow_id#journey-}-$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')"
encrypted=$(printf '{"consent":%s}' "$(cat "$consent_file")" | payloads | coded encode)
status=$(printf '{"workflowType":{"name":"recordLateConsent"},"taskQueue":{"name":"%s"},"input":%s}' \
  "$TASK_QUEUE" "$encrypted" | call "$api/$late_id")
[ "$status" = 200 ] || { cat "$files/answer" >&2 && exit 1; }

# Waits for its end: each call returns after some 20 s at the latest, with or without it.
closed='waitNewEvent=true&historyEventFilterType=HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT'
until grep -Eq 'EVENT_TYPE_WORKFLOW_EXECUTION_(COMPLETED|FAILED|TIMED_OUT|TERMINATED|CANCELED)' "$files/answer"; do
  curl --silent --show-error --fail --output "$files/answer" \
    --header 'Content-Type: application/json+no-payload-shorthand' --header 'Accept: application/json+no-payload-shorthand' "$api/$late_id/history?$closed"
done

# The result of a workflow that completed, the details of one that failed; no payload holds a bracket.
said=$(tr -d '\n ' <"$files/answer" |
  sed -n 's/.*"\(result\|details\)":\({"payloads":\[[^]]*\]}\).*/\2/p' | coded decode |
  sed -n 's/.*"data": *"\([^"]*\)".*/\1/p' | base64 -d)
case $(cat "$files/answer") in
  *EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED*) ;;
  *) printf 'refused: %s\n' "$said" >&2 && exit 1 ;;
esac
case $said in
  *'"unmatched"'*) printf 'kept: the ledger does not know this %s\n' "${said##*\"unmatched\":\"}" | sed 's/".*//' ;;
  *'"duplicate":true'*) echo 'recorded before' ;;
  *) echo recorded ;;
esac
