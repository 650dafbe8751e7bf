/** Messages that no orderly sender sends. */

import { runInParallel } from '../../../src/base/in-parallel.ts';
import { toWorkflowId } from '../../../src/model/run-key.ts';
import { consentOf } from '../journey-inputs.ts';
import type { ConsentPlan } from '../plan.ts';
import type { Strike } from './strike.ts';

const AT_ONCE = 50;

/** Half of them one and the same message, half about shares that do not exist. */
export const consentFlood: Strike = async ({ journeyId = '', count = 0 }, { people, world }) => {
  const plan = world.plan.journeys.find((one) => one.journeyId === journeyId);
  if (!plan) return false;
  const at = new Date(Date.now() - 1_000);
  const about = (shareId: string, nth: number): ConsentPlan => ({
    ...{ atMs: 0, shareId, applicantId: '1A', consentId: `FLOOD-${nth}`, decision: 'granted', by: 'signal', copies: 1 },
  });
  const once = consentOf(journeyId, about('S1', 0), plan.shares, at);
  people.books.consents.push({ atMs: Date.now(), message: once });
  const messages = Array.from({ length: count }, (_, nth) => {
    if (nth % 2 === 0) return once;
    const other = consentOf(journeyId, about(`NONE${nth % 40}`, nth), [], at);
    people.books.consents.push({ atMs: Date.now(), message: other });
    return other;
  });
  // A signal to a closed run fails, and no sender repeats it.
  const send = (message: object) => people.patiently(() => people.handle(journeyId).signal('consent', message));
  const sent = await runInParallel(messages, AT_ONCE, (message) =>
    send(message)
      .then(() => 1)
      .catch(() => 0),
  );
  return sent.some((one) => one === 1);
};

const ENCODINGS = ['binary/encrypted', 'json/plain', 'json/protobuf', 'chaos/unheard-of'];

/** Payloads that no codec and no parser can read. */
export const undecodableConsent: Strike = async ({ journeyId = '', atMs }, { people, world }) => {
  const encoding = ENCODINGS[atMs % ENCODINGS.length] as string;
  await people.patiently(() =>
    world.client.workflowService.signalWorkflowExecution({
      namespace: world.client.options.namespace,
      workflowExecution: { workflowId: toWorkflowId(journeyId) },
      signalName: 'consent',
      input: {
        payloads: [{ metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from('{"journeyId": \u0000') }],
      },
    }),
  );
  return true;
};

/** Sends one of the journey's own consents again, also when the run is closed. */
export const consentAgain: Strike = async ({ journeyId = '', pick = 0 }, { people, world }) => {
  const plan = world.plan.journeys.find((one) => one.journeyId === journeyId);
  const consent = plan?.consents[Math.floor(pick * plan.consents.length)];
  if (!plan || !consent) return false;
  await people.consent(plan, consent);
  return true;
};
