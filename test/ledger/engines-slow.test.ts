/**
 * Compares the two engines: the same random work, from one seed, must give the same answers and leave the same
 * rows in every table. Clocks, ids that the ledger makes, and bytes under its keys differ by their nature.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { SqlEngine } from '../../src/ledger/database/sql-session.ts';
import { TABLES } from '../../src/ledger/database/tables.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openEngine, openLedger } from '../../src/ledger/open-ledger.ts';
import type { DecisionRecord, OutcomeRecord } from '../../src/ledger/records.ts';
import type { InquiryDescription } from '../../src/model/inquiry.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import {
  claimAs,
  claimOf,
  closeOf,
  consentOf,
  decisionOf,
  keyRing,
  NO_RECORD,
  outcomeOf,
  RECORD,
  SHARE,
} from './fixtures.ts';

const SEEDS = [1, 2, 3, 4];
const STEPS = 150;

let directory: string;
let postgres: PostgresServer;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-engines-'));
  postgres = await startPostgres();
});
after(async () => {
  await postgres?.stop();
  await rm(directory, { recursive: true, force: true });
});

for (const seed of SEEDS) {
  test(`SQLite and PostgreSQL give the same answers and keep the same rows (seed ${seed})`, async (t) => {
    const urls = [`file:${join(directory, String(seed), 'ledger.db')}`, await postgres.url(`engines_${seed}`)];
    const ring = keyRing();
    const [one, other] = await Promise.all(
      urls.map(async (url) => {
        const ledger = await openLedger({ url, environment: 'sandbox', keyRing: ring, create: true });
        t.after(() => ledger.close());
        const engine = await openEngine(url);
        t.after(() => engine.close());
        return { ledger, engine };
      }),
    );
    assert.ok(one && other);
    const choice = seeded(seed);
    for (let step = 1; step <= STEPS; step++) {
      const [name, work] = nextStep(choice, step);
      const answers: unknown[] = [await answerOf(work, one.ledger), await answerOf(work, other.ledger)];
      assert.deepEqual(answers[1], answers[0], `step ${step}: ${name}`);
      // No two rows have the same time, so that both engines list them in the same order.
      await pause(2);
    }
    for (const table of Object.keys(TABLES)) {
      assert.deepEqual(await rowsOf(other.engine, table), await rowsOf(one.engine, table), table);
    }
    assert.deepEqual((await other.ledger.verifyChain()).findings, []);
  });
}

type Work = (ledger: Ledger) => Promise<unknown>;
type Choice = <T>(list: readonly T[]) => T;

/** Returns a random generator that makes the same choices for the same seed (mulberry32). */
function seeded(seed: number): Choice {
  let state = seed;
  return (list) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return list[((mixed ^ (mixed >>> 14)) >>> 0) % list.length] as never;
  };
}

const INQUIRIES: readonly Partial<InquiryDescription>[] = [
  { customerTraceNumber: 'PQAAAAAAAAAAAAAAAAAAAAAAAA00' },
  { customerTraceNumber: 'PAAAAAAAAAAAAAAAAAAAAAAAAA00', productCode: 'PREAPP' },
  { customerTraceNumber: 'PQBBBBBBBBBBBBBBBBBBBBBBBB00', runKey: 'J-2', endUserCode: 'EU9' },
  { ...SHARE },
  { ...SHARE, customerTraceNumber: 'SUBBBBBBBBBBBBBBBBBBBBBBBB00', runKey: 'share:S2', shareId: 'S2' },
];
const OUTCOMES: readonly Partial<OutcomeRecord>[] = [
  { state: 'answered', answer: RECORD, httpStatus: 200 },
  { state: 'answered', answer: RECORD, httpStatus: 200 },
  { state: 'answered', answer: NO_RECORD, httpStatus: 200 },
  { state: 'unknown', httpStatus: 503 },
  { state: 'unknown', failureType: 'OutcomeUnknown' },
  { state: 'refused', failureType: 'RequestRefused', httpStatus: 422 },
  { state: 'notProcessed', httpStatus: 429, retryAfterMs: 500 },
];

/** One named step of work. Its random choices are made before either engine performs it. */
function nextStep(choice: Choice, step: number): [name: string, work: Work] {
  const inquiry = choice(INQUIRIES);
  const customerTraceNumber = inquiry.customerTraceNumber ?? '';
  const attempt = choice([1, 1, 1, 2, 2, 3]);
  const runKey = choice(['J-1', 'J-2', 'share:S2']);
  const who = { by: 'ops@example.com', reason: `step ${step}` };
  const claim: Work = (ledger) => {
    const change = { inquiry, attempt, answerWithinMs: isOver ? 0 : 600_000, applicantIds: ['01'] };
    const shared = inquiry.shareId === undefined ? {} : { sharedReference: 'REF-1' };
    return claimAs(ledger, { ...change, ...shared });
  };
  const isOver = choice([true, false, false]);
  const outcome = choice(OUTCOMES);
  const record: Work = async (ledger) => {
    const isRefused = outcome.state === 'refused';
    const refusal = isRefused
      ? await ledger.sealRefusal({ customerTraceNumber, attempt }, { text: 'no', isWhole: true })
      : undefined;
    const report = outcome.answer === RECORD ? '{"report":1}' : undefined;
    return ledger.recordOutcome(outcomeOf(ledger, { ...outcome, customerTraceNumber, attempt }), report, refusal);
  };
  const action = choice(['resend', 'resend', 'accept', 'abandon', 'amend'] as const);
  const answer = action === 'accept' ? { answer: choice([RECORD, NO_RECORD]) } : {};
  const decision: Partial<DecisionRecord> = {
    ...{ decisionId: `D-${choice([step, step, 1])}`, customerTraceNumber, attempt, action, ...answer, ...who },
  };
  const said = choice(['granted', 'granted', 'denied', 'revoked'] as const);
  const [journeyId, shareId] = choice([
    ['J-1', 'S1'],
    ['share:S2', 'S2'],
  ] as const);
  const consent = consentOf({ journeyId, shareId, decision: said, consentId: `C-${choice([1, 2, 3])}` });
  const matter = choice(['2026-1', '2026-2']);
  const until = new Date(Date.UTC(2027, 0, 1) + step).toISOString();
  const runDecision = { runKey, decisionId: `R-${step}`, decidedAt: '2026-01-02T03:04:05Z', ...who };
  const scope = choice([{}, { profile: 'default' }, { profile: 'east' }]);
  const steps: readonly [name: string, work: Work, weight: number][] = [
    ['claim', claim, 10],
    ['outcome', record, 8],
    ['close', (ledger) => ledger.closeAttempt(closeOf(ledger, { inquiry, attempt })), 1],
    [
      'decision',
      (ledger) => {
        const about = claimOf(ledger, { inquiry }).inquiry;
        return ledger.recordDecision(ledger.identity.ledgerId, about, decisionOf(decision));
      },
      6,
    ],
    ['consent', (ledger) => ledger.recordConsents(ledger.identity.ledgerId, [consent]), 4],
    [
      'share',
      (ledger) => {
        const share = { runKey: journeyId, shareId, reportReferenceNumber: 'REF-1', reportEndUserCode: 'EU1' };
        return ledger.recordShare(ledger.identity.ledgerId, share);
      },
      1,
    ],
    ['withdrawal', (l) => l.withdrawShare(l.identity.ledgerId, { runKey: journeyId, shareId, ...who }), 1 / 8],
    [
      'run decision',
      (l) => l.recordRunDecisions(l.identity.ledgerId, [{ ...runDecision, action: 'extend', stage: 'PREAPP', until }]),
      1,
    ],
    ['pause', (ledger) => ledger.pauses.begin(ledger.identity.ledgerId, scope, who), 1 / 2],
    ['resume', (ledger) => ledger.pauses.end(ledger.identity.ledgerId, scope, who), 2],
    ['legal hold', (ledger) => ledger.retention.setLegalHold(runKey, { ...who, matter }), 1],
    ['release', (ledger) => ledger.retention.releaseLegalHold(runKey, { ...who, matter }), 1],
    ['disposal begun', (ledger) => ledger.retention.begin(runKey, who), step > STEPS * 0.7 ? 2 : 0],
    ['disposal', (ledger) => ledger.retention.dispose(runKey, who, 0), step > STEPS * 0.7 ? 4 : 0],
    ['reading', (l) => l.readReport({ runKey, productCode: 'PREQUAL' }, { by: 'ops-1', via: 'ledger' }), 2],
    ['inquiries', (ledger) => ledger.inquiriesOf(runKey), 2],
    ['inquiry', (ledger) => ledger.inquiry(customerTraceNumber), 2],
    ['work', (ledger) => ledger.tasks.open({ limit: 20 }), 2],
    ['audit', (ledger) => Array.fromAsync(ledger.inquiriesBetween()), 2],
    ['decisions', (ledger) => Array.fromAsync(ledger.decisionsBetween({ runKey })), 1],
    ['consents', (ledger) => Array.fromAsync(ledger.consentsBetween()), 1],
    ['shares', (ledger) => Array.fromAsync(ledger.sharesBetween()), 1],
    ['disposals', (ledger) => Array.fromAsync(ledger.disposalsBetween()), 1],
    ['view', (ledger) => ledger.retention.view(runKey), 2],
  ];
  const weighted = steps.flatMap((one) => Array.from({ length: Math.round(one[2] * 8) }, () => one));
  const [name, work] = choice(weighted);
  return [name, work];
}

/** Returns the answer of the ledger, or its error. */
async function answerOf(work: Work, ledger: Ledger): Promise<unknown> {
  return plain(await work(ledger).catch((error: Error) => ({ refused: error.name })));
}

async function rowsOf(engine: SqlEngine, table: string): Promise<string[]> {
  const rows = await engine.read((session) => session.rows(`SELECT * FROM ${table}`));
  return rows.map((row) => JSON.stringify(plain(Object.fromEntries(Object.entries(row).sort())))).sort();
}

const DAY_MS = 86_400_000;
const MADE_BY_THE_LEDGER = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{64}/g;

/** Removes clocks, generated ids, digests and sealed bytes. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return 'bytes';
  if (typeof value === 'number') return Math.abs(value - Date.now()) < DAY_MS ? 'ms' : value;
  if (typeof value === 'string') {
    const isClock = /^\d{4}-\d\d-\d\dT/.test(value) && Math.abs(Date.parse(value) - Date.now()) < DAY_MS;
    return isClock ? 'at' : value.replace(MADE_BY_THE_LEDGER, 'id');
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name, field]) => field !== undefined && name !== 'waitMs');
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field)]));
}
