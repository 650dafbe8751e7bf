#!/bin/sh
# A joint application from start to end, by the commands that people type: the gateway loses an answer, an operator decides, and
# two applicants consent to a share. It stays up until Ctrl-C; with --exit it ends by itself.
set -eu

directory=$(mktemp -d)
say() { printf '\n$ credit-journey %s\n' "$*"; }
cj() { say "$@"; node src/cli.ts "$@"; }

node src/cli.ts dev --data-dir "$directory/data" --temporal-port 0 --ui-port 0 --sandbox-port 0 >"$directory/dev.log" &
dev=$!
stop() {
  trap '' INT TERM
  kill -INT "$dev" 2>/dev/null || true
  wait "$dev" || true
  rm -rf "$directory"
}
trap stop EXIT
trap 'exit 0' INT TERM
echo 'Starting a Temporal server, the sandbox gateway, a worker and the HTTP API ...'
until [ -f "$directory/data/env" ]; do
  kill -0 "$dev" || exit 1
  sleep 0.2
done
. "$directory/data/env"

echo 'The gateway will post PRECLOSE and lose its answer.'
curl -sf -X PUT "$GATEWAY_BASE_URL/_sandbox/faults" -H 'content-type: application/json' -o /dev/null \
  -d '{"rules":[{"productCode":"PRECLOSE","attempt":1,"times":1,"fault":"resetAfterPosting"}]}'
# It ends with 3, since an operator must decide.
cj start --sample --auto --journey-id DEMO-1 --watch || [ $? = 3 ]
cj holds || [ $? = 3 ]

echo 'The operator asks the provider, which here means the sandbox: it has posted the inquiry.'
curl -sf "$GATEWAY_BASE_URL/_sandbox/inquiries" | node -e '
  const inquiry = JSON.parse(require("node:fs").readFileSync(0, "utf8")).find((row) => row.productCode === "PRECLOSE");
  const { reportReferenceNumber, consumerIds, postedAt: requestedAt } = inquiry;
  const applicants = ["1A", "2A"].map((applicantId, index) => ({ applicantId, consumerId: consumerIds[index] }));
  console.log(JSON.stringify({ reference: { reportReferenceNumber, requestedAt, applicants } }));
' >"$directory/reference.json"
cj resolve DEMO-1 --attempt 1 --action accept --outcome record --provider-said posted --yes \
  --by demo --reason 'the provider has it in its books' --file "$directory/reference.json"
for applicant in 1A 2A; do
  cj consent DEMO-1 --share-id S-1 --applicant-id "$applicant" --consent-id "C-$applicant" --decision granted \
    --end-user-code EU456 --method web --text-version 2026-01 --reference "DOC-$applicant"
done
cj watch DEMO-1
cj inquiries --totals
[ "${1:-}" = --exit ] && exit

printf '\nEverything stays up until Ctrl-C:\n'
cat "$directory/dev.log"
wait "$dev"
