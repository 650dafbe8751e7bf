/** Journeys of every kind at a steady rate, the consumers who consent, and the person who resolves holds. */
import { setTimeout as delay } from 'node:timers/promises';
import { type CreditJourneys, type JourneyHandle, type JourneyResult, ReportNotFoundError } from '../../src/client.ts';
import { person, prequal } from '../load/inputs.ts';
import type { PostedInquiry, Site } from '../load/site.ts';

export interface Traffic {
  /** Journeys that have ended as they should. */
  readonly ended: number;
  readonly open: number;
  /** How long single inquiries took from start to result, newest last; older ones are forgotten. */
  readonly latencies: { at: number; ms: number }[];
  readonly holdsResolved: number;
  readonly reportsRead: number;
  /** What went otherwise than it should have, in words. */
  readonly failures: string[];
  /** Starts no more, and waits for what is under way. */
  stop(): Promise<void>;
}

/** Beyond so many the machine is slower than the rate: more would only wait. */
const MOST_OPEN = 150;
const KEPT_LATENCIES = 2_000;
const LOOK_FOR_HOLDS_EVERY_MS = 3_000;
const ENDS_WITHIN_MS = 120_000;
const SECONDARY_USER = { endUserCode: 'EU999' };

/** @param keyless goes through the codec server */
export function startTraffic(site: Site, keyless: CreditJourneys, perSecond: number): Traffic {
  const state = {
    ended: 0,
    latencies: [] as { at: number; ms: number }[],
    holdsResolved: 0,
    reportsRead: 0,
    failures: [] as string[],
  };
  const open = new Set<Promise<void>>();
  const end = new AbortController();
  const follow = (kind: string, work: Promise<void>) => {
    const one = work
      .then(() => {
        state.ended++;
      })
      .catch((error: unknown) => {
        // Names, never values.
        if (state.failures.length < 50)
          state.failures.push(`${kind}: ${error instanceof Error ? error.name : 'error'}`);
      })
      .finally(() => open.delete(one));
    open.add(one);
  };
  const starting = (async () => {
    for (let index = 0; !end.signal.aborted; index++) {
      if (open.size < MOST_OPEN) {
        if (index % 4 === 3) follow('whole', wholeJourney(keyless, state));
        else if (index % 4 === 1) follow('two stages', twoStages(site.journeys));
        else follow('inquiry', oneInquiry(site.journeys, state.latencies));
      }
      await delay(1_000 / perSecond);
    }
  })();
  const operator = (async () => {
    while (!end.signal.aborted || open.size > 0) {
      state.holdsResolved += await resolveHolds(site);
      await delay(LOOK_FOR_HOLDS_EVERY_MS);
    }
  })();
  return {
    get ended() {
      return state.ended;
    },
    get open() {
      return open.size;
    },
    get latencies() {
      return state.latencies;
    },
    get holdsResolved() {
      return state.holdsResolved;
    },
    get reportsRead() {
      return state.reportsRead;
    },
    failures: state.failures,
    async stop() {
      end.abort();
      await starting;
      await Promise.race([Promise.all([...open]), delay(ENDS_WITHIN_MS, undefined, { ref: false })]);
      if (open.size > 0) state.failures.push(`${open.size} journeys had not ended`);
      open.clear();
      await operator;
    },
  };
}

async function oneInquiry(journeys: CreditJourneys, latencies: { at: number; ms: number }[]): Promise<void> {
  const startedAt = performance.now();
  const journey = await journeys.start(prequal('EU123'));
  checked(await journey.result());
  const now = performance.now();
  latencies.push({ at: now, ms: now - startedAt });
  if (latencies.length > KEPT_LATENCIES) latencies.splice(0, KEPT_LATENCIES / 2);
}

async function twoStages(journeys: CreditJourneys): Promise<void> {
  const gates = { PREAPP: { pass: 'auto' } } as const;
  checked(await (await journeys.start(prequal('EU456', { stages: ['PREQUAL', 'PREAPP'], gates }))).result());
}

/** Two applicants, three stages, one by `advance`, a share with a consent each way, and a report that is read. */
async function wholeJourney(keyless: CreditJourneys, state: { reportsRead: number }): Promise<void> {
  const journey = await keyless.start(
    prequal('EU123', {
      stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'],
      gates: { PREAPP: { pass: 'manual' }, PRECLOSE: { pass: 'auto' } },
      applicants: [person('1A'), person('2A')],
      shares: [{ shareId: 'S1', ...SECONDARY_USER }],
    }),
  );
  await journey.advance({ to: 'PREAPP' });
  await consents(journey);
  const result = checked(await journey.result());
  if (result.shares[0]?.state !== 'posted') throw new Error('the share was not posted');
  try {
    await journey.report('PREAPP');
    state.reportsRead++;
  } catch (error) {
    // Where the answer was lost and a person accepted what the provider had posted, there is a reference and no report.
    if (!(error instanceof ReportNotFoundError)) throw error;
  }
}

/** Early as they come: they are kept until the share's report exists. */
async function consents(journey: JourneyHandle): Promise<void> {
  const decidedAt = new Date().toISOString();
  const evidence = { method: 'web', textVersion: 'v1', capturedAt: decidedAt, reference: 'doc-1' };
  const grant = { shareId: 'S1', decision: 'granted', decidedAt, secondaryUser: SECONDARY_USER, evidence } as const;
  await journey.consent({ ...grant, applicantId: '1A', consentId: 'C-1' });
  await journey.recordConsent({ ...grant, applicantId: '2A', consentId: 'C-2' });
}

function checked(result: JourneyResult): JourneyResult {
  if (result.outcome !== 'completed') throw new Error('the journey ended otherwise');
  return result;
}

/** Asks the gateway what it posted, and decides as a person would. */
async function resolveHolds(site: Site): Promise<number> {
  const { client } = site.journeys;
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({
    query: 'WorkflowType = "lendingJourney" AND ExecutionStatus = "Running" AND NeedsAttention IS NOT NULL',
  })) {
    ids.push(workflowId.replace(/^journey-/, ''));
  }
  if (ids.length === 0) return 0;
  const posted = await site.posted();
  let resolved = 0;
  for (const id of ids) {
    const journey = site.journeys.get(id);
    const status = await journey.status().catch(() => undefined);
    for (const { customerTraceNumber, attempts, allowedActions } of status?.holds ?? []) {
      const found = posted.find((one) => one.customerTraceNumber === customerTraceNumber);
      const about = { decisionId: `D-${attempts}`, customerTraceNumber, attempt: attempts };
      const who = { by: 'soak', reason: 'the answer was lost' };
      const decision = found
        ? { action: 'accept' as const, providerSaid: 'posted' as const, ...acceptedAs(found) }
        : { action: 'resend' as const, providerSaid: 'notPosted' as const };
      if (!allowedActions.includes(decision.action)) continue;
      // Somebody may have been quicker: visibility lags.
      const answer = await journey.resolve({ ...about, ...who, ...decision }).catch(() => undefined);
      if (answer) resolved++;
    }
  }
  return resolved;
}

function acceptedAs({ reportReferenceNumber, postedAt, consumerIds }: PostedInquiry) {
  const applicants = consumerIds.map((consumerId, index) => ({ applicantId: `${index + 1}A`, consumerId }));
  return { outcome: 'record' as const, reference: { reportReferenceNumber, requestedAt: postedAt, applicants } };
}
