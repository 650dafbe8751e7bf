"""
Starts a journey, passes its gate, sends consents and waits for the end:

    python run_journey.py journey.json consent-1a.json consent-2a.json
"""

import asyncio
import json
import os
import sys
from uuid import uuid4

from codec_server import CodecServer
from send_consent import send_consent
from temporalio.client import Client, WorkflowUpdateFailedError
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError


async def main(journey_file: str, *consent_files: str) -> None:
    namespace = os.environ["TEMPORAL_NAMESPACE"]
    # A codec server that is known by its path, as in development, takes an empty token.
    token_file = os.environ.get("CODEC_SERVER_TOKEN_FILE", os.devnull)
    codec_server = CodecServer(os.environ["CODEC_SERVER_URL"], namespace, token_file)
    client = await Client.connect(
        os.environ["TEMPORAL_ADDRESS"], namespace=namespace, data_converter=codec_server.data_converter()
    )
    journey = read(journey_file)
    journey_id = journey["journeyId"]

    # A running journey is found again, a completed one is never run twice.
    handle = await client.start_workflow(
        "lendingJourney",
        journey,
        id=f"journey-{journey_id}",
        task_queue=os.environ["TASK_QUEUE"],
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )

    try:
        # The id is this message's own: the SDK keeps it where it repeats the call. A corrected message has another.
        answer = await handle.execute_update(
            "advance", {"journeyId": journey_id, "to": "PREAPP"}, id=f"advance-PREAPP-1-{uuid4()}"
        )
    except WorkflowUpdateFailedError as error:
        # UpdateRefused, with {"reason": ...} in its details.
        refusal = error.cause
        raise SystemExit(refusal.details[0]["reason"] if isinstance(refusal, ApplicationError) else refusal)

    for consent_file in consent_files:
        await send_consent(client, read(consent_file))

    # A long poll: it returns when the journey ends, be it in weeks.
    result = await handle.result()
    print(json.dumps({"answer": answer, "result": result}))


def read(path: str):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


asyncio.run(main(*sys.argv[1:]))
