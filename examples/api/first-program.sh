#!/bin/sh
# The reports of a loan, by curl: docs/first-program.md
set -eu
cd "$(dirname "$0")/../.."
ask() { curl -sS -H "Authorization: Bearer $(cat "$API_TOKEN_FILE")" -H 'Content-Type: application/json' "$@"; }
STATUS=$(mktemp)
LOAN=$API_URL/v1/journeys/LOAN-21

sed 's/LOAN-4/LOAN-21/' examples/journey.json | ask "$API_URL/v1/journeys" --data-binary @-
echo

while ask "$LOAN" | tee "$STATUS" | grep -Eq '"state":"(running|held)"'; do
  ! grep -q '"state":"held"' "$STATUS" || echo 'a person must decide'
  sleep 1
done

ask "$API_URL/v1/runs/LOAN-21/reports/PREQUAL" --fail-with-body
echo

ask "$LOAN/advance" --fail-with-body -d '{ "to": "PREAPP" }'
echo
ask "$LOAN/advance" --fail-with-body -d '{ "to": "PREAPP" }'
echo

ask "$LOAN/advance" --fail-with-body -d '{ "repeat": "PREAPP", "occurrence": 2, "reason": "the offer was renewed" }'
echo

sed 's/LOAN-4/LOAN-21/; s/EU123/EU124/' examples/journey.json | ask "$API_URL/v1/journeys" --data-binary @-
echo
