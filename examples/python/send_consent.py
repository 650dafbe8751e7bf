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


async def send_consent(client: Client, consent) -> str:
    """Sends it, and says what became of it. A refusal by the ledger is raised as `WorkflowFailureError`."""
    handle = client.get_workflow_handle(f"journey-{consent['journeyId']}")
    try:
        await handle.signal("consent", consent)
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:
            raise
        return await record_late(client, consent)
    return "sent: what the journey refuses is in its status"


async def record_late(client: Client, consent) -> str:
    """There is no open journey: a workflow of its own brings the message to the ledger. Nothing is posted."""
    # 16 random hex digits: the message's own id. The ledger compares it with what it has under the same consent.
    result = await client.execute_workflow(
        "recordLateConsent",
        {"consent": consent},
        id=f"late-consent-{consent['journeyId']}-{uuid4().hex[:16]}",
        task_queue=os.environ["TASK_QUEUE"],
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )
    if "problems" in result:
        # Not recorded: paths and rules, such as a decision that is no word of the list.
        sys.exit(f"refused: {result['problems']}")
    unmatched = result.get("unmatched")
    if unmatched is not None:
        return f"kept: the ledger does not know this {unmatched}"
    return "recorded before" if result["duplicate"] else "recorded"


async def main(consent_file: str) -> None:
    namespace = os.environ["TEMPORAL_NAMESPACE"]
    # A codec server that is known by its path, as in development, takes an empty token.
    token_file = os.environ.get("CODEC_SERVER_TOKEN_FILE", os.devnull)
    codec_server = CodecServer(os.environ["CODEC_SERVER_URL"], namespace, token_file)
    client = await Client.connect(
        os.environ["TEMPORAL_ADDRESS"], namespace=namespace, data_converter=codec_server.data_converter()
    )
    with open(consent_file, encoding="utf-8") as file:
        print(await send_consent(client, json.load(file)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
