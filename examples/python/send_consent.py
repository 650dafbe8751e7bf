"""
Sends a consent, denial or revocation, also to a journey that has ended:

    python send_consent.py consent.json
"""

import asyncio
import json
import os
import sys
from uuid import uuid4

from codec_server import CodecServer
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode


async def send_consent(client: Client, consent) -> None:
    handle = client.get_workflow_handle(f"journey-{consent['journeyId']}")
    try:
        await handle.signal("consent", consent)
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:
            raise
        await record_late(client, consent)


async def record_late(client: Client, consent) -> None:
    """The journey has ended: a workflow of its own brings the message to the ledger. Nothing is posted."""
    # 16 random hex digits: the message's own id. The ledger compares it with what it has under the same consent.
    await client.start_workflow(
        "recordLateConsent",
        {"consent": consent},
        id=f"late-consent-{consent['journeyId']}-{uuid4().hex[:16]}",
        task_queue=os.environ["TASK_QUEUE"],
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )


async def main(consent_file: str) -> None:
    namespace = os.environ["TEMPORAL_NAMESPACE"]
    codec_server = CodecServer(os.environ["CODEC_SERVER_URL"], namespace, os.environ["CODEC_SERVER_TOKEN_FILE"])
    client = await Client.connect(
        os.environ["TEMPORAL_ADDRESS"], namespace=namespace, data_converter=codec_server.data_converter()
    )
    with open(consent_file, encoding="utf-8") as file:
        await send_consent(client, json.load(file))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
