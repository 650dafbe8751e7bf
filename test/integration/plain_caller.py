"""A caller that knows nothing of this project but its JSON: starts a journey, signals consent, reads the result."""

import asyncio
import json
import sys

from temporalio.client import Client


async def main() -> None:
    address, namespace, task_queue, text = sys.argv[1:5]
    message = json.loads(text)
    journey, consents = message["journey"], message["consents"]
    client = await Client.connect(address, namespace=namespace)
    handle = await client.start_workflow(
        "lendingJourney",
        journey,
        id=f"journey-{journey['journeyId']}",
        task_queue=task_queue,
    )
    answer = await handle.execute_update("advance", {"journeyId": journey["journeyId"], "to": "PREAPP"})
    for consent in consents:
        await handle.signal("consent", consent)
    result = await handle.result()
    status = await handle.query("status")
    print(json.dumps({"answer": answer, "result": result, "status": status}))


asyncio.run(main())
