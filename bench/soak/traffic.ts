/** Runs of every kind at a steady rate, the consumers who consent, and the person who resolves holds. */

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CreditJourneys, JourneyHandle, JourneyResult } from '../../src/client.ts';
import { loadLedgerAccess } from '../../src/config/ledger.ts';
import { openConfiguredLedger } from '../../src/operator/configured-ledger.ts';
import { describeHold, type Hold } from '../../src/operator/holds.ts';
import { grant, newJourneyId, person, prequal } from '../load/inputs.ts';
import { writePortfolio } from '../load/portfolio-file.ts';
import type { PostedInquiry, Site } from '../load/site.ts';

export interface Traffic {
  /** Journeys, pulls and shares that have ended as expected. */
  readonly ended: number;
  /** Their callers' own ids. */
  readonly endedIds: readonly string[];
  /** Rows of portfolios. */
  readonly rowsReviewed: number;
  readonly open: number;
  /** The time of single inquiries from start to result, newest last; older ones are dropped. */
  readonly latencies: { at: number; ms: number }[];
  readonly holdsResolved: number;
  /** Unexpected results, in words. */
  readonly failures: string[];
  /** Starts no more, and waits for runs in progress. */
  stop(): Promise<void>;
}

/** Far more than the runs that are open. */
const MOST_HOLDS = 500;

/** With more than this the machine is slower than the rate: further runs would only wait. */
const MOST_OPEN = 150;
const KEPT_LATENCIES = 2_000;
const LOOK_FOR_HOLDS_EVERY_MS = 3_000;
const ENDS_WITHIN_MS = 120_000;
const SECONDARY_USER = { endUserCode: 'EU999' };
const LATER_USER = { endUserCode: 'EU888' };
const ROWS_OF_A_PORTFOLIO = 40;
const PORTFOLIO_EVERY_MS = 120_000;

/** @param keyless a client that goes through the codec server */
export function startTraffic(site: Site, keyless: CreditJourneys, perSecond: number): Traffic {
  const state = {
    endedIds: [] as string[],
    rowsReviewed: 0,
    latencies: [] as { at: number; ms: number }[],
    holdsResolved: 0,
    failures: [] as string[],
  };
  const open = new Set<Promise<void>>();
  const end = new AbortController();
  const follow = (kind: string, work: Promise<string[]>) => {
    const one = work
      .then((ids) => {
        state.endedIds.push(...ids);
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
        if (index % 8 === 3) follow('whole', wholeJourney(keyless));
        else if (index % 8 === 7) follow('shared afterwards', sharedAfterwards(site.journeys));
        else if (index % 4 === 1) follow('two stages', twoStages(site.journeys));
        else if (index % 4 === 2) follow('pull', onePull(site.journeys, index % 8 === 2 ? 'CR' : 'FAILSAFE'));
        else follow('inquiry', oneInquiry(site.journeys, state.latencies));
      }
      await delay(1_000 / perSecond);
    }
  })();
  const reviews = (async () => {
    const { signal } = end;
    for (let count = 0; !signal.aborted; count++) {
      follow('portfolio', portfolio(site, `soak-${count}.csv`, state));
      await delay(PORTFOLIO_EVERY_MS, undefined, { signal }).catch(() => undefined);
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
      return state.endedIds.length;
    },
    endedIds: state.endedIds,
    get rowsReviewed() {
      return state.rowsReviewed;
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
    failures: state.failures,
    async stop() {
      end.abort();
      await Promise.all([starting, reviews]);
      await Promise.race([Promise.all([...open]), delay(ENDS_WITHIN_MS, undefined, { ref: false })]);
      if (open.size > 0) state.failures.push(`${open.size} journeys had not ended`);
      open.clear();
      await operator;
    },
  };
}

async function oneInquiry(journeys: CreditJourneys, latencies: { at: number; ms: number }[]): Promise<string[]> {
  const startedAt = performance.now();
  const journey = await journeys.start(prequal('EU123'));
  checked(await journey.result());
  const now = performance.now();
  latencies.push({ at: now, ms: now - startedAt });
  if (latencies.length > KEPT_LATENCIES) latencies.splice(0, KEPT_LATENCIES / 2);
  return [journey.journeyId];
}

async function twoStages(journeys: CreditJourneys): Promise<string[]> {
  const gates = { PREAPP: { pass: 'auto' } } as const;
  const journey = await journeys.start(prequal('EU456', { stages: ['PREQUAL', 'PREAPP'], gates }));
  checked(await journey.result());
  return [journey.journeyId];
}

async function onePull(journeys: CreditJourneys, productCode: 'CR' | 'FAILSAFE'): Promise<string[]> {
  const of = { pullId: newJourneyId(), endUserCode: 'EU456', permissiblePurposeCode: '01' };
  const pull = await journeys.start({ ...of, productCode, applicants: [person('1A')] });
  const { outcome } = await pull.result();
  if (outcome !== 'record' && outcome !== 'noRecord') throw new Error('the pull ended otherwise');
  return [pull.pullId];
}

/** A journey that ends without a share, followed by a share of its report by itself. */
async function sharedAfterwards(journeys: CreditJourneys): Promise<string[]> {
  const journey = await journeys.start(prequal('EU123'));
  checked(await journey.result());
  const share = await journeys.start({
    shareId: newJourneyId(),
    ...LATER_USER,
    permissiblePurposeCode: '02',
    report: { journeyId: journey.journeyId, productCode: 'PREQUAL' },
  });
  await share.recordConsent(grant({ applicantId: '1A', consentId: 'C-1', secondaryUser: LATER_USER }));
  if ((await share.result()).outcome !== 'posted') throw new Error('the share was not posted');
  return [journey.journeyId, share.shareId];
}

/** Its rows give way to all other work. */
async function portfolio(site: Site, file: string, state: { rowsReviewed: number }): Promise<string[]> {
  await writePortfolio(join(site.portfolioDir, 'default/EU123', file), ROWS_OF_A_PORTFOLIO);
  const review = await site.journeys.start({
    reviewId: newJourneyId(),
    file,
    endUserCode: 'EU123',
    permissiblePurposeCode: '01',
  });
  const { record } = await review.result();
  state.rowsReviewed += record;
  if (record !== ROWS_OF_A_PORTFOLIO) throw new Error('the review ended otherwise');
  return [];
}

/**
 * Two applicants, three stages, one by `advance` and a share with a consent by each channel.
 */
async function wholeJourney(keyless: CreditJourneys): Promise<string[]> {
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
  return [journey.journeyId];
}

/** Sent early: the journey keeps them until the share's report exists. */
async function consents(journey: JourneyHandle): Promise<void> {
  const of = { shareId: 'S1', secondaryUser: SECONDARY_USER };
  await journey.recordConsent({ ...of, ...grant({ applicantId: '1A', consentId: 'C-1' }) });
  await journey.recordConsent({ ...of, ...grant({ applicantId: '2A', consentId: 'C-2' }) });
}

function checked(result: JourneyResult): JourneyResult {
  if (result.outcome !== 'completed') throw new Error('the journey ended otherwise');
  return result;
}

/** Asks the gateway which inquiries it posted, and decides like a person. */
async function resolveHolds(site: Site): Promise<number> {
  const holds = await listHolds(site);
  if (holds.length === 0) return 0;
  const posted = await site.posted();
  let resolved = 0;
  for (const hold of holds) {
    const decision = decisionAbout(
      hold,
      posted.find(({ customerTraceNumber }) => customerTraceNumber === hold.customerTraceNumber),
    );
    if (!decision || !hold.allowedActions.includes(decision.action)) continue;
    // Another decision may have come first.
    const answer = await site.journeys
      .run(hold.runKey)
      .resolveInquiry(decision)
      .catch(() => undefined);
    if (answer) resolved++;
  }
  return resolved;
}

async function listHolds(site: Site): Promise<Hold[]> {
  const ledger = await openConfiguredLedger(loadLedgerAccess(site.env));
  try {
    const { rows } = await ledger.tasks.open({ kind: 'held', limit: MOST_HOLDS });
    return rows.map(describeHold);
  } finally {
    await ledger.close();
  }
}

function decisionAbout({ customerTraceNumber, attempt }: Hold, found: PostedInquiry | undefined) {
  if (attempt === undefined || customerTraceNumber === undefined) return undefined;
  const about = { decisionId: `D-${attempt}`, customerTraceNumber, attempt };
  const who = { by: 'soak', reason: 'the answer was lost' };
  return found
    ? { ...about, ...who, action: 'accept' as const, providerSaid: 'posted' as const, ...acceptedAs(found) }
    : { ...about, ...who, action: 'resend' as const, providerSaid: 'notPosted' as const };
}

function acceptedAs({ reportReferenceNumber, postedAt, consumerIds }: PostedInquiry) {
  // FAILSAFE returns no report that could be shared.
  if (consumerIds.length === 0) return { outcome: 'noRecord' as const };
  const applicants = consumerIds.map((consumerId, index) => ({ applicantId: `${index + 1}A`, consumerId }));
  return { outcome: 'record' as const, reference: { reportReferenceNumber, requestedAt: postedAt, applicants } };
}
