"""Prints the payload of a decision's proof, for a signing system; reads the message of `resolveInquiry` as JSON.

    python decision_payload.py production < decision.json

Sign it as a compact JWS (RFC 7515), with the `kid` of your key in its header, and put it into the message as `proof`.
"""

import hashlib
import json
import sys
import time

PLAIN = ("decisionId", "customerTraceNumber", "attempt", "action", "by", "reason", "providerSaid", "outcome", "confirmConsumerIds")
PERSONAL = ("reference", "applicants")


def decision_content(environment: str, message: dict) -> dict:
    content = {"environment": environment, **{name: message[name] for name in PLAIN if name in message}}
    personal = {name: message[name] for name in PERSONAL if name in message}
    if personal:
        # Canonical JSON (RFC 8785): nothing personal is signed but its digest.
        canonical = json.dumps(personal, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        content["contentDigest"] = hashlib.sha256(canonical.encode()).hexdigest()
    return content


if __name__ == "__main__":
    now = int(time.time())
    decision = decision_content(sys.argv[1], json.load(sys.stdin))
    json.dump({"decision": decision, "iat": now, "exp": now + 86_400}, sys.stdout)
