/** Events: "in order, at least once, nothing personal". A missed delivery leaves a trace (docs/webhooks.md). */
import { SentinelSearch } from '../../protection/sentinels.ts';
import type { Evidence, RunEvidence } from '../evidence.ts';
import type { ReceivedEvent } from '../evidence-others.ts';
import type { Invariant } from './invariant.ts';

const NO_ENDPOINTS = { count: 0, failures: [], remark: 'no endpoints' };

/** Checks each event of a run against each endpoint that takes it. */
export const eventsDelivered: Invariant = {
  name: 'every event was accepted by each endpoint that takes it, or given up with a trace',
  judge(evidence) {
    const { webhooks, runs } = evidence;
    if (!webhooks) return NO_ENDPOINTS;
    const accepted = keysOf(webhooks.received.filter(({ isAccepted }) => isAccepted));
    const failed = keysOf(deliveriesOf(evidence).flatMap(({ failed }) => failed));
    const failures = new Set<string>();
    const [seen, givenUp] = [new Set<string>(), new Set<string>()];
    for (const run of runs) {
      for (const event of run.events ?? []) {
        // Events that a terminated run had not handed over are lost with the run.
        if (run.status !== 'COMPLETED' && !event.isHandedOver) continue;
        for (const { name, events } of webhooks.endpoints) {
          if (events && !events.includes(event.type)) continue;
          const key = keyOf({ endpoint: name, id: event.id });
          seen.add(key);
          if (accepted.has(key)) continue;
          if (failed.has(key)) givenUp.add(key);
          else failures.add(`${run.workflowId} ${event.type} ${event.id}: ${name} never had it, and nothing says so`);
        }
      }
    }
    const remark = `${givenUp.size} given up`;
    return { count: seen.size, failures: [...failures], remark };
  },
};

export const eventsInOrder: Invariant = {
  name: 'the events of a run come to an endpoint in their order',
  judge(evidence) {
    const { webhooks } = evidence;
    if (!webhooks) return NO_ENDPOINTS;
    const failures: string[] = [];
    let count = 0;
    const byWorkflow = Map.groupBy(deliveriesOf(evidence), ({ workflowId }) => workflowId);
    for (const [workflowId, deliveries] of byWorkflow) {
      const told = [...new Set(deliveries.flatMap(({ taken }) => taken))];
      const place = new Map(told.map((id, nth) => [id, nth]));
      for (const { name } of webhooks.endpoints) {
        const ids = webhooks.received.filter((one) => one.endpoint === name && place.has(one.id)).map(({ id }) => id);
        const places = [...new Set(ids)].map((id) => place.get(id) ?? 0);
        count += places.length;
        const wrong = places.findIndex((one, nth) => nth > 0 && one < (places[nth - 1] ?? 0));
        if (wrong >= 0) failures.push(`${workflowId}: ${name} had ${told[places[wrong] ?? 0]} too late`);
      }
    }
    return { count, failures };
  },
};

export const eventsSigned: Invariant = {
  name: 'one id, one event: whoever has it again has it unchanged, signed, and from the run that told it',
  judge({ webhooks, runs }) {
    if (!webhooks) return NO_ENDPOINTS;
    const tellers = new Map(runs.flatMap((run) => (run.events ?? []).map(({ id }) => [id, run.workflowId] as const)));
    const runsOf = Map.groupBy(runs, ({ workflowId }) => workflowId);
    const failures: string[] = [];
    for (const [id, copies] of Map.groupBy(webhooks.received, (one) => one.id)) {
      const teller = tellers.get(id);
      const name = `${teller ?? 'nobody'} ${id}`;
      if (teller === undefined) failures.push(`${name}: no run told it`);
      if (copies.some(({ isSigned }) => !isSigned)) failures.push(`${name}: not signed`);
      // A run that was reset or started again gives its events new dates.
      const isToldOnce = runsOf.get(teller ?? '')?.length === 1;
      const forms = new Set(copies.map(({ body }) => (isToldOnce ? body : subjectOf(body))));
      if (forms.size > 1) failures.push(`${name}: ${forms.size} different bodies`);
      if (teller !== undefined && copies.some(({ body }) => workflowOf(body) !== teller))
        failures.push(`${name}: it names another run`);
    }
    return { count: webhooks.received.length, failures };
  },
};

/** The number of an answer without a record is no reference to a report: `noRecordReference` may name it. */
export const eventsImpersonal: Invariant = {
  name: 'no event holds anything personal, secret, or a report reference',
  judge({ webhooks, sentinels, sandbox }) {
    if (!webhooks) return NO_ENDPOINTS;
    const search = new SentinelSearch([...sentinels]);
    const references = new Map(sandbox.postings.map((posting) => [posting.reportReferenceNumber, posting]));
    const mayName = (word: string, body: string) =>
      !references.get(word)?.applicants.some(({ hasReport }) => hasReport) &&
      parsed(body).data?.noRecordReference === word;
    const failures = webhooks.received.flatMap(({ id, body }) => [
      ...search.find(Buffer.from(body)).map(({ sentinel, spelling }) => `${id}: ${sentinel.name}, ${spelling}`),
      ...(body.match(/[\w-]+/g) ?? [])
        .filter((word) => references.has(word) && !mayName(word, body))
        .map(() => `${id}: a reference`),
    ]);
    return { count: webhooks.received.length, failures };
  },
};

interface Delivery {
  workflowId: string;
  /** Ids, in the order in which they were handed over. */
  taken: readonly string[];
  failed: { endpoint: string; id: string }[];
}

/** The earlier run of a delivery first. */
function deliveriesOf({ runs }: Pick<Evidence, 'runs'>): Delivery[] {
  return runs
    .filter((run): run is RunEvidence & Required<Pick<RunEvidence, 'delivery'>> => run.delivery !== undefined)
    .toSorted((one, other) => one.startedAtMs - other.startedAtMs)
    .map(({ workflowId, delivery }) => ({ workflowId, ...delivery }));
}

function keyOf({ endpoint, id }: { endpoint: string; id: string }): string {
  return `${endpoint} ${id}`;
}

function keysOf(events: readonly { endpoint: string; id: string }[]): Set<string> {
  return new Set(events.map(keyOf));
}

function parsed(body: ReceivedEvent['body']): { type?: string; data?: Record<string, unknown> } {
  try {
    return JSON.parse(body) as object;
  } catch {
    return {};
  }
}

function subjectOf(body: string): string {
  const { type, data: { until: _, ...data } = {} } = parsed(body);
  return JSON.stringify([type, data]);
}

/** An event with a journey's id belongs to that journey, even if it also names a share. */
function workflowOf(body: string): string {
  const { journeyId, pullId, reviewId, shareId } = parsed(body).data ?? {};
  if (journeyId !== undefined) return `journey-${journeyId}`;
  if (reviewId !== undefined) return `portfolio-${reviewId}`;
  return pullId !== undefined ? `pull-${pullId}` : `share-${shareId}`;
}
