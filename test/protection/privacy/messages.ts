/** Messages that no journey can take, made of what is personal: by us, encrypted, and by others, in the clear. */
import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import {
  consentMessage,
  type JourneyHandle,
  journeyInput,
  newSsn,
  untilStatus,
} from '../../support/journey-harness.ts';
import { rawPayload } from '../codec-fixtures.ts';
import type { Sentinel } from '../sentinels.ts';
import { disguised } from './people.ts';
import type { World } from './world.ts';

/** Messages that callers send in the clear stay in the history unchanged, and must be nowhere else. */
export const OTHERS: Sentinel[] = [
  { name: 'last', value: 'Oberonquist' },
  { name: 'ssn', value: '987654329' },
  { name: 'emailAddress', value: 'ob@larkspurfold.example.com' },
];
const OTHERS_TEXT = JSON.stringify(Object.fromEntries(OTHERS.map(({ name, value }) => [name, value])));
const BROKEN_TEXT = `${OTHERS_TEXT.slice(0, -1)},,`;

async function journeyAtGate(world: World): Promise<JourneyHandle> {
  const handle = await world.start(journeyInput({ stages: ['PREQUAL', 'PREAPP'] }));
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  return handle;
}

/** Other tests check whether the message is answered or refused. */
async function sent(sendings: Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(sendings);
}

/** Encrypted, as ours are: none of it may be readable anywhere. */
export async function sendRefusedMessages(world: World): Promise<JourneyHandle> {
  const handle = await journeyAtGate(world);
  const journeyId = handle.workflowId.replace('journey-', '');
  const person = personWithWrongFields(world);
  const [{ last = '' } = {}] = person.names;
  const { ssn, emailAddress: email } = person;
  const consent = consentMessage(journeyId, { applicantId: '1A' });
  const signals: [string, unknown][] = [
    ['consent', { journeyId, [last]: ssn }],
    ['consent', last],
    ['consent', [person]],
    ['consent', { ...consent, decision: last, consentId: ssn, shareId: email, [ssn]: last }],
    ['consent', { ...consent, secondaryUser: { [last]: ssn }, evidence: { method: last } }],
    ['consent', { ...consent, journeyId: email, applicantId: ssn }],
    ['requestWithdrawal', { journeyId: email, by: { last }, reason: ssn }],
  ];
  for (const [name, message] of signals) await handle.signal(name, message);
  const updates: [string, unknown][] = [
    ['advance', { journeyId, to: last, [ssn]: email }],
    ['advance', { journeyId, to: 'PREAPP', applicants: [person] }],
    ['advance', { journeyId, to: 'PREAPP', applicants: [person, person] }],
    ['recordConsent', { ...consent, consentId: ssn, decidedAt: last }],
    ['requestShare', { journeyId, share: { shareId: ssn, endUser: last, [last]: ssn } }],
    ['requestShare', { journeyId, share: { shareId: ssn, endUser: [last], reportOf: email } }],
    ['withdrawShare', { journeyId, shareId: ssn, by: [last], reason: { ssn } }],
    ['withdrawShare', { journeyId, shareId: last, by: last, reason: email }],
    ['extend', { journeyId, gate: last, until: ssn, by: email, [ssn]: last }],
    ['resolveInquiry', { journeyId, action: last, customerTraceNumber: ssn, attempt: email }],
    ['withdraw', { journeyId, by: [last], reason: { ssn } }],
  ];
  await sent([
    ...updates.map(([name, message]) => handle.executeUpdate(name, { args: [message] })),
    ...['status', 'references'].map((name) => handle.query(name, person)),
  ]);
  await untilStatus(handle, ({ refusedMessagesTotal }) => refusedMessagesTotal >= signals.length);
  return handle;
}

/** Starts that are refused: each fails its run. */
export async function sendRefusedStarts(world: World): Promise<JourneyHandle[]> {
  const person = personWithWrongFields(world);
  const [{ last = '' } = {}] = person.names;
  const good = journeyInput();
  const bad: object[] = [
    { ...good, applicants: [person], [last]: person.ssn },
    { ...good, applicants: [person, { ...person, [person.ssn]: last }], endUserCode: `${last} ${person.emailAddress}` },
    { ...good, profile: last.toLowerCase() },
    { ...good, stages: [last], gates: { [last]: person.ssn }, shares: [{ shareId: person.ssn, endUser: last }] },
    [person],
  ];
  return Promise.all(
    bad.map(async (input) => {
      const handle = await world.start({ ...input, journeyId: `R-${randomUUID()}` } as typeof good);
      await handle.result().catch(() => undefined);
      return handle;
    }),
  );
}

/** Each field is personal, and none is as the interface wants it. */
function personWithWrongFields({ seen }: World) {
  const person = disguised({ applicantId: '1A', ssn: newSsn() });
  seen.add('ssn', person.ssn);
  const [name, alias] = person.names;
  const { ssn, dob } = person;
  return {
    ...person,
    names: [{ ...name, [alias?.last ?? '']: ssn }],
    ssn: `${ssn.slice(0, 3)}-${ssn.slice(3, 5)}-${ssn.slice(5)}`,
    dob: dob.split('-').reverse().join('.'),
    phones: person.phones.map(({ phoneNumber }) => ({ phoneNumber: `+1 ${phoneNumber}`, phoneType: alias?.first })),
    ipAddress: `${person.ipAddress}%${name?.last}`,
    addresses: person.addresses.map(({ line1, city }) => ({ line1: `${line1}\u0007`, state: city, zip: city })),
  };
}

/**
 * Sends unencrypted messages, as any client with write access to the namespace can. They must not stop a run, and the
 * run must not spread their content.
 */
export async function sendOthersMessages(world: World): Promise<JourneyHandle[]> {
  const handle = await journeyAtGate(world);
  const { workflowId } = handle;
  const [last = '', ssn = ''] = OTHERS.map(({ value }) => value);
  const payloads = {
    object: rawPayload('json/plain', OTHERS_TEXT),
    broken: rawPayload('json/plain', BROKEN_TEXT),
    foreign: rawPayload(`binary/${last}`, OTHERS_TEXT),
    short: rawPayload('binary/encrypted-cj1', OTHERS_TEXT),
  };
  const journeys = await Promise.all(
    Object.values(payloads).map(async (payload) => {
      const client = senderOf(world, payload);
      const other = client.workflow.getHandle(workflowId);
      await other.signal('consent', 'x');
      await sent([
        ...['advance', 'recordConsent', `update-${last}`].map((name) => other.executeUpdate(name, { args: ['x'] })),
        ...['status', `query-${ssn}`].map((name) => other.query(name, 'x')),
      ]);
      const started = await client.workflow.start('lendingJourney', {
        workflowId: `journey-O-${randomUUID()}`,
        taskQueue: world.config.taskQueue,
        args: ['x'],
      });
      await started.result().catch(() => undefined);
      return started as unknown as JourneyHandle;
    }),
  );
  await senderOf(world, payloads.object).workflow.getHandle(workflowId).signal(`signal-${last}`, 'x');
  await untilStatus(handle, ({ refusedMessagesTotal }) => refusedMessagesTotal >= Object.keys(payloads).length);
  return [handle, ...journeys];
}

/** A client that sends this payload in place of every other one. */
function senderOf({ plainClient }: World, payload: Payload): Client {
  const { connection, options } = plainClient;
  const codec = { encode: async () => [payload], decode: async (payloads: Payload[]) => payloads };
  return new Client({ connection, namespace: options.namespace, dataConverter: { payloadCodecs: [codec] } });
}
