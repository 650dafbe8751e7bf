"""Tells the HTTP API what a consumer has decided: python send_consent.py consent.json"""
import json, os, sys, time
import httpx

consent = json.load(open(sys.argv[1], encoding="utf-8"))
token = open(os.environ["API_TOKEN_FILE"], encoding="utf-8").read().strip()
# Without trust_env=False a proxy or .netrc of the environment could see or replace the token.
api = httpx.Client(base_url=os.environ["API_URL"], headers={"Authorization": f"Bearer {token}"}, timeout=30, trust_env=False)
for wait in (1, 2, 4, 8, 16, 30, 30):
    try:
        # Safe to repeat as it stands: consentId is its key, and the same again counts once.
        answer = api.post("/v1/consents", json=consent)
        said = answer.json()
        if answer.status_code < 500 and answer.status_code not in (408, 429) and said.get("answer") != "pending":
            print(said["answer"] if answer.is_success else f"{said['code']}: {said['detail']} {said.get('problems', '')}")
            sys.exit(0 if answer.is_success else 1)  # accepted or kept; or refused, which no repeat changes.
        time.sleep(int(answer.headers.get("retry-after", wait)))
    except (httpx.TransportError, ValueError):
        time.sleep(wait)  # No answer, or none of the API's own: nobody knows yet whether it arrived.
print("pending: send the same again later") or sys.exit(75)
