#!/bin/sh
# Tells the HTTP API what a consumer has decided, by curl 7.71 or later: send-consent.sh consent.json
set -eu
# curl would send an empty body for a file that is missing.
test -r "$1" || { echo "cannot read $1" >&2; exit 66; }
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
# By a file of our own that curl reads: arguments are seen by everybody on the machine.
token=$(cat "$API_TOKEN_FILE")
printf 'header = "Authorization: Bearer %s"\n' "$token" >"$files/token"

# A text or a list of the answer, by jq where there is one.
said() {
  if command -v jq >/dev/null; then jq -cr ".$1 // empty" "$files/answer"
  else sed -n -e 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' -e 's/.*"'"$1"'":\(\[[^]]*]\).*/\1/p' "$files/answer"; fi
}

for wait in 2 5 15 30 0; do
  # Safe to repeat as it stands: consentId is its key, and the same again counts once. So curl tries again where no answer
  # comes, and after 408, 429 and 5xx, when Retry-After says so.
  status=$(curl --silent --noproxy '*' --config "$files/token" --header 'Content-Type: application/json' --data-binary @"$1" \
    --max-time 30 --retry 5 --retry-all-errors --output "$files/answer" --write-out '%{http_code}' "$API_URL/v1/consents") || true
  case $status in
    2*) [ "$(said answer)" = pending ] || { echo "$(said answer)"; exit 0; } ;; # accepted or kept
    000 | 408 | 429 | 5*) ;; # nobody knows yet whether it arrived
    *) echo "$(said code): $(said detail) $(said problems)"; exit 1 ;; # refused, which no repeat changes
  esac
  sleep "$wait"
done
echo 'pending: send the same again later'
exit 75
