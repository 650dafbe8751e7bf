"""
An origination platform by a client that was generated from the API's document (docs/http-api.md): starts a journey, waits for
its gate, passes it, and reads the result:

    python originate.py journey.json
"""

import json
import os
import sys
import time

import httpx
from credit_journey import AuthenticatedClient
from credit_journey.api.journeys import advance_journey, get_journey, get_journey_result, start_journey
from credit_journey.errors import UnexpectedStatus
from credit_journey.models import PassGate, Problem, StartJourney

with open(os.environ["API_TOKEN_FILE"], encoding="utf-8") as file:
    client = AuthenticatedClient(
        base_url=os.environ["API_URL"],
        token=file.read().strip(),
        # Longer than the longest wait below. A proxy of the environment would see the token.
        timeout=httpx.Timeout(60),
        httpx_args={"trust_env": False},
        raise_on_unexpected_status=True,
    )


class Refused(Exception):
    """The API's answer, by `problem.code`; no repeat changes it."""

    def __init__(self, problem: Problem) -> None:
        places = [f"{one.path} {one.rule}" for one in problem.problems or []]
        super().__init__(f"{problem.code}: {'; '.join([problem.detail, *places])}")
        self.problem = problem


def ask(operation, *args, **more):
    """The answer, asked for again as long as the API is away. Safe: each message has a key of its own, such as the journey's id."""
    for wait in (1, 2, 4, 8, 16, 30, 30, 30):
        try:
            answer = operation.sync_detailed(*args, client=client, **more)
        except (httpx.TransportError, UnexpectedStatus, ValueError):
            # No answer, or one of a proxy: nobody knows whether the message arrived.
            time.sleep(wait)
            continue
        problem = answer.parsed
        if not isinstance(problem, Problem):
            return answer
        if problem.status not in (408, 429, 503):
            raise Refused(problem)
        time.sleep(int(answer.headers.get("retry-after", wait)))
    raise SystemExit("the API is away: run this again, it goes on where it stood")


def wait_for(journey_id: str, wanted):
    """The first status that is `wanted`. The API holds each request until there is another, so that none asks in vain."""
    known = {}
    while True:
        answer = ask(get_journey, journey_id, **known)
        if answer.status_code == 304:
            continue
        status = answer.parsed
        # Not each state is named here: the API may add some.
        if wanted(status) or status.state not in ("running", "waitingAtGate", "waitingForConsent", "held"):
            return status
        if status.holds:
            print(f"a person must decide: {status.holds[0].failure_type}", file=sys.stderr)
        known = {"if_none_match": answer.headers["etag"], "prefer": "wait=30"}


def main(journey_file: str) -> None:
    with open(journey_file, encoding="utf-8") as file:
        journey = StartJourney.from_dict(json.load(file))
    journey_id = journey.journey_id
    try:
        ask(start_journey, body=journey)
    except Refused as refused:
        if refused.problem.code == "differs":
            # The application was changed since: a decision for a person, not for a repeat.
            print("differs at", *[one.path for one in refused.problem.problems or []], file=sys.stderr)
        raise SystemExit(str(refused))

    wait_for(journey_id, lambda status: status.state == "waitingAtGate" and status.waiting_for == "PREAPP")
    try:
        ask(advance_journey, journey_id, body=PassGate(to="PREAPP"))
    except Refused as refused:
        # Somebody withdrew it, or it has ended: the result says how.
        if refused.problem.code not in ("ending", "notNow", "journeyFinished"):
            raise
        print(refused, file=sys.stderr)

    while True:
        wait_for(journey_id, lambda status: False)
        try:
            result = ask(get_journey_result, journey_id).parsed
        except Refused as refused:
            # The status may be a moment ahead of the result.
            if refused.problem.code != "resultNotReady":
                raise SystemExit(str(refused))
            time.sleep(1)
            continue
        print(json.dumps(result.to_dict()))
        return


main(*sys.argv[1:])
