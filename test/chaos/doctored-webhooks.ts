/** A sound storm with events, and what breaks the promises about them one at a time. */
import type { Evidence, RunEvidence } from './evidence.ts';
import type { ReceivedEvent } from './evidence-others.ts';
import type { Invariant } from './invariants/invariant.ts';
import { eventsDelivered, eventsImpersonal, eventsInOrder, eventsSigned } from './invariants/webhooks.ts';
import { at, SSNS } from './sound-evidence.ts';

const JOURNEY = 'J-SHARED';
const WORKFLOW = `journey-${JOURNEY}`;
const TYPES = ['stage.answered', 'gate.reached', 'journey.ended'] as const;

/** Three events of one journey; the second was given up by the endpoint that takes it alone. */
export function tellEvents(evidence: Evidence): Evidence {
  const teller = evidence.runs.find(({ workflowId }) => workflowId === WORKFLOW) as RunEvidence;
  teller.events = TYPES.map((type, nth) => ({ id: `evt_${nth}`, type, isHandedOver: true }));
  evidence.runs.push({
    ...structuredClone({ ...teller, history: { events: [] } }),
    ...{ workflowId: `webhooks-${WORKFLOW}`, workflowType: 'webhookDelivery', status: 'RUNNING', runId: 'delivery-1' },
    ...{ startedAtMs: at(1), events: [], submissions: [], consents: [] },
    delivery: {
      taken: TYPES.map((_, nth) => `evt_${nth}`),
      failed: [{ endpoint: 'nobody', id: 'evt_1' }],
      waiting: 0,
    },
  });
  evidence.webhooks = {
    endpoints: [{ name: 'platform' }, { name: 'nobody', events: ['gate.reached'] }],
    received: TYPES.map((type, nth) => received(nth, { type, data: { journeyId: JOURNEY } })),
  };
  return evidence;
}

function received(nth: number, body: object): ReceivedEvent {
  return { endpoint: 'platform', id: `evt_${nth}`, body: JSON.stringify(body), isAccepted: true, isSigned: true };
}

/** Changes the received events before the invariants read them. */
function change(evidence: Evidence, changed: (received: readonly ReceivedEvent[]) => ReceivedEvent[]): void {
  const { webhooks } = tellEvents(evidence);
  if (webhooks) webhooks.received = changed(webhooks.received);
}

function edited(nth: number, more: Partial<ReceivedEvent>) {
  return (all: readonly ReceivedEvent[]) => all.map((one, index) => (index === nth ? { ...one, ...more } : one));
}

interface Doctored {
  what: string;
  caughtBy: Invariant;
  as: RegExp;
  doctor(evidence: Evidence): void;
}

export const DOCTORED_WEBHOOKS: readonly Doctored[] = [
  {
    what: 'an event that never came',
    caughtBy: eventsDelivered,
    as: /journey\.ended evt_2: platform never had it/,
    doctor: (evidence) => change(evidence, (all) => all.slice(0, 2)),
  },
  {
    what: 'an event that was taken, and never accepted',
    caughtBy: eventsDelivered,
    as: /stage\.answered evt_0: platform never had it/,
    doctor: (evidence) => change(evidence, edited(0, { isAccepted: false })),
  },
  {
    what: 'an event before the one that came first',
    caughtBy: eventsInOrder,
    as: /platform had evt_0 too late/,
    doctor: (evidence) => change(evidence, ([first, ...rest]) => [...rest, ...(first ? [first] : [])]),
  },
  {
    what: 'another body under the same id',
    caughtBy: eventsSigned,
    as: /evt_1: 2 different bodies/,
    doctor: (evidence) =>
      change(evidence, (all) => [...all, received(1, { type: 'gate.reached', data: { journeyId: JOURNEY, more: 1 } })]),
  },
  {
    what: 'an event that is not signed',
    caughtBy: eventsSigned,
    as: /evt_0: not signed/,
    doctor: (evidence) => change(evidence, edited(0, { isSigned: false })),
  },
  {
    what: 'an event that nobody told',
    caughtBy: eventsSigned,
    as: /nobody evt_9: no run told it/,
    doctor: (evidence) => change(evidence, (all) => [...all, received(9, { data: { journeyId: JOURNEY } })]),
  },
  {
    what: "an event of somebody else's",
    caughtBy: eventsSigned,
    as: /evt_0: it names another run/,
    doctor: (evidence) => change(evidence, edited(0, { body: JSON.stringify({ data: { pullId: 'P-1' } }) })),
  },
  {
    what: 'an event with a social security number',
    caughtBy: eventsImpersonal,
    as: /evt_0: SSN/,
    doctor: (evidence) => change(evidence, edited(0, { body: JSON.stringify({ data: { note: SSNS['1A'] } }) })),
  },
  {
    what: 'an event with a report reference',
    caughtBy: eventsImpersonal,
    as: /evt_0: a reference/,
    doctor: (evidence) => {
      const { reportReferenceNumber } = evidence.sandbox.postings[0] ?? { reportReferenceNumber: '' };
      change(evidence, edited(0, { body: JSON.stringify({ data: { reportReferenceNumber } }) }));
    },
  },
  {
    what: 'an event that calls the reference of a report a number without a record',
    caughtBy: eventsImpersonal,
    as: /evt_0: a reference/,
    doctor: (evidence) => {
      const { reportReferenceNumber: noRecordReference } = evidence.sandbox.postings[0] ?? {};
      change(evidence, edited(0, { body: JSON.stringify({ data: { noRecordReference } }) }));
    },
  },
  {
    what: 'an event with the number of an answer without a record, under another name',
    caughtBy: eventsImpersonal,
    as: /evt_0: a reference/,
    doctor: (evidence) => {
      const returnCode = addPostingWithoutRecord(evidence);
      change(evidence, edited(0, { body: JSON.stringify({ data: { returnCode } }) }));
    },
  },
];

/** Returns the number of an answer without a record. */
function addPostingWithoutRecord({ sandbox }: Evidence): string {
  const [posting] = structuredClone(sandbox.postings);
  if (!posting) throw new Error('the evidence has no posting');
  const applicants = posting.applicants.map((one) => ({ ...one, hasReport: false }));
  const reportReferenceNumber = 'RRN-NO-RECORD';
  sandbox.postings.push({ ...posting, reportReferenceNumber, applicants });
  return reportReferenceNumber;
}

/** What is no failure: an event names the number of an answer without a record where events have it. */
export function nameNoRecordReference(evidence: Evidence): void {
  const noRecordReference = addPostingWithoutRecord(evidence);
  change(evidence, edited(0, { body: JSON.stringify({ data: { noRecordReference } }) }));
}
