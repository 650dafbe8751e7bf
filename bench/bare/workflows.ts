/** The baseline for a journey: the same HTTP calls on Temporal, in four plain activities, and nothing else. */
import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { BareActivities, BareInput } from './contract.ts';

// The journey's own time-out in the bench. The rest is the SDK's default, retries without limit included.
const activities = proxyActivities<BareActivities>({ startToCloseTimeout: '12 seconds' });

export const goOn = defineSignal('goOn');

/** Returns the report references of the three stages. */
export async function bareJourney(input: BareInput): Promise<string[]> {
  let mayGoOn = !input.waitsAfterFirst;
  setHandler(goOn, () => {
    mayGoOn = true;
  });
  await activities.acquireToken();
  const references: string[] = [];
  for (const productCode of ['PREQUAL', 'PREAPP', 'PRECLOSE'] as const) {
    const customerTraceNumber = `${input.id}${productCode}`.slice(0, 30);
    references.push(await activities.pull({ ...input, productCode, customerTraceNumber }));
    await condition(() => mayGoOn);
  }
  return references;
}
