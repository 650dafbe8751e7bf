/** Rules that a claim, a closing look-up or a decision goes by in the ledger, each taken out by one edit. As `builds.ts`. */
import type { BrokenBuild } from './builds.ts';

const CLAIM = 'src/ledger/claim.ts';
const CLOSE = 'src/ledger/inquiries/rules.ts';
const CLAIM_TABLE = 'test/ledger/claim.test.ts';
const ON_SQLITE = 'test/ledger/sqlite-ledger.test.ts';
const WITHDRAWN_RUNS = 'test/workflows/withdrawn-runs.test.ts';
const SHARES = { path: 'test/ledger/share-explorer.test.ts', title: 'finds no order in which a share is claimed' };

/** Upgraded while its journeys run: claims wait for the migration, and follow it at once. */
const UPGRADED = { seed: 112, journeys: 40, minutes: 0.4 };

/** A rule of shares that never applies. */
function withoutShareRule(name: string, what: string, applies: string, row: string): BrokenBuild {
  const rule = (verdict: string) => `forbids: ({ share }) => (${applies} ? ${verdict} : null)`;
  return {
    name: `the claim of a share without the rule ${name}: ${what}`,
    edits: [{ file: CLAIM, find: rule('NOT_PERMITTED'), replace: rule('null') }],
    tests: [{ path: CLAIM_TABLE, title: row }, SHARES],
  };
}

export const BROKEN_CLAIM_RULES: readonly BrokenBuild[] = [
  withoutShareRule(
    'shareWithdrawn',
    'a share that was taken back is posted',
    'share?.isWithdrawn',
    'the share was withdrawn, although every grant is valid',
  ),
  {
    name: 'a share is withdrawn although it may have been sent',
    edits: [
      {
        file: 'src/ledger/shares/shares.ts',
        find: "      if (sent) return { kind: 'claimed' as const, ...sent };\n",
        replace: '',
      },
    ],
    tests: [{ path: ON_SQLITE, title: 'a share that may have been sent cannot be withdrawn' }],
  },
  {
    name: 'a withdrawal of a share does not wait for claims',
    edits: [
      {
        file: 'src/ledger/shares/shares.ts',
        find: '  await lockHead(tx);\n',
        replace: '  if (shareId === null) await lockHead(tx);\n',
      },
    ],
    tests: [
      { path: 'test/ledger/postgres-ledger-slow.test.ts', title: 'exactly one of a concurrent withdrawal and claim' },
    ],
  },
  withoutShareRule(
    'reportGone',
    'a disposed report is shared',
    'share?.reportIsGone',
    'the report of the share is gone',
  ),
  withoutShareRule('consentMissing', 'a share needs no grant', 'share && lacksGrant(share)', 'the share has no grant'),
  withoutShareRule(
    'consentRefused',
    'a refusal that the ledger has is passed over',
    "share && has(share, 'refused')",
    'one grant of the share is refused',
  ),
  withoutShareRule(
    'consentTooOld',
    'a grant counts for ever',
    "share && has(share, 'tooOld')",
    'one grant of the share is tooOld',
  ),
  withoutShareRule(
    'consentSpent',
    'two shares are posted under one grant',
    "share && has(share, 'spent')",
    'one grant of the share is spent',
  ),
  {
    name: 'a claim follows an attempt that was answered late: an inquiry that is known to be posted is sent again',
    edits: [
      {
        file: CLAIM,
        find: "forbids: (known) => (findLateAnswer(known) ? { kind: 'latest' } : null)",
        replace: "forbids: (known) => (findLateAnswer(known)?.closed ? { kind: 'latest' } : null)",
      },
    ],
    tests: [
      { path: CLAIM_TABLE, title: 'an attempt was answered late, and the next one is notSent' },
      { path: ON_SQLITE, title: 'an attempt that was answered late, while later ones were not sent, holds' },
      { path: 'test/hazards/answered-late.test.ts', title: 'a late answer while the resend cannot connect' },
    ],
  },
  {
    name: 'the claim does not read that its run was withdrawn',
    edits: [
      {
        file: CLAIM,
        find: "forbids: (known) => (known.isWithdrawn ? { kind: 'withdrawn' } : null)",
        replace: "forbids: (known) => (known.isWithdrawn && known.ledgerId === '' ? { kind: 'withdrawn' } : null)",
      },
      {
        file: 'src/ledger/inquiries/inquiry-transactions.ts',
        find: 'OR EXISTS (${',
        replace: 'OR 1 = 0 AND EXISTS (${',
      },
    ],
    tests: [
      { path: CLAIM_TABLE, title: 'its run was withdrawn before any claim' },
      { path: ON_SQLITE, title: 'no claim for a withdrawn run succeeds' },
      { path: WITHDRAWN_RUNS, title: 'posts no stage after a reset to before the withdrawal' },
    ],
  },
  {
    name: 'a claim that was decided before a withdrawal is written after it',
    edits: [
      {
        file: 'src/ledger/inquiries/inquiry-transactions.ts',
        find: 'OR EXISTS (${',
        replace: 'OR 1 = 0 AND EXISTS (${',
      },
    ],
    tests: [
      {
        path: 'test/ledger/postgres-ledger-slow.test.ts',
        title: 'each claim that is concurrent with a withdrawal',
      },
    ],
  },
  {
    name: 'a run that was withdrawn ends before the ledger has that',
    edits: [
      {
        file: 'src/workflows/run/run-workflow.ts',
        find: '    await run.decided.waitUntilSettled();\n',
        replace: '',
      },
    ],
    tests: [{ path: WITHDRAWN_RUNS, title: 'a pull that is withdrawn ends once the ledger has it' }],
  },
  {
    name: 'a worker of an older version claims on a migrated ledger',
    chaos: UPGRADED,
    edits: [
      {
        file: CLAIM,
        find: "(claim.writer < known.oldestWriter ? { kind: 'writerTooOld' } : null)",
        replace: "(claim.writer < Math.min(0, known.oldestWriter) ? { kind: 'writerTooOld' } : null)",
      },
    ],
    tests: [
      { path: CLAIM_TABLE, title: 'the program is older than the ledger accepts' },
      { path: ON_SQLITE, title: 'an older program can no longer claim or decide' },
    ],
  },
  {
    name: 'an older copy of the ledger claims as ever',
    edits: [
      {
        file: CLAIM,
        find: "forbids: (known) => (known.isRestored ? { kind: 'ledgerRestored' } : null)",
        replace: "forbids: (known) => (known.isRestored && known.ledgerId === '' ? { kind: 'ledgerRestored' } : null)",
      },
    ],
    tests: [{ path: ON_SQLITE, title: 'has seen an attempt that the ledger lacks' }],
  },
  {
    name: 'claims go on while inquiries are paused',
    edits: [
      {
        file: CLAIM,
        find: "forbids: (known) => (known.isPaused ? { kind: 'paused' } : null)",
        replace: "forbids: (known) => (known.isPaused && known.ledgerId === '' ? { kind: 'paused' } : null)",
      },
    ],
    tests: [
      { path: CLAIM_TABLE, title: 'its profile is paused before any claim' },
      { path: ON_SQLITE, title: 'a pause of all profiles refuses each new claim and nothing else' },
    ],
  },
  {
    name: 'a claim that was decided before a pause is written after it',
    edits: [
      {
        file: 'src/ledger/inquiries/inquiry-transactions.ts',
        find: 'CASE WHEN EXISTS (',
        replace: 'CASE WHEN 1 = 0 AND EXISTS (',
      },
    ],
    tests: [
      {
        path: 'test/ledger/postgres-ledger-slow.test.ts',
        title: 'each claim that is concurrent with a pause',
      },
    ],
  },
  {
    name: 'the time of a pause counts towards giving up',
    edits: [
      {
        file: 'src/workflows/inquiry/inquiry-protocol.ts',
        find: '    if (state.pausedSinceMs !== undefined) this.#forgetRetries();\n',
        replace: '',
      },
    ],
    tests: [{ path: 'test/workflows/pauses.test.ts', title: 'stops each kind of run from sending' }],
  },
  {
    name: 'no key keeps two customers at once from one inquiry',
    edits: [
      {
        file: 'src/ledger/database/tables.ts',
        find: 'inquiries_one_number ON inquiries (environment,',
        replace: 'inquiries_one_number ON inquiries (customer_trace_number, environment,',
      },
    ],
    tests: [
      {
        path: 'test/ledger/postgres-ledger-slow.test.ts',
        title: 'the same inquiry cannot be claimed for another customer',
      },
    ],
  },
  {
    name: 'a look-up after a lost activity closes nothing',
    edits: [
      {
        file: 'src/ledger/inquiries/inquiry-transactions.ts',
        find: "const closed = await insertRow(tx, 'closed_attempts', { customerTraceNumber, attempt, ...run });",
        replace: 'const closed = { closedAt: new Date().toISOString() };',
      },
    ],
    tests: [{ path: ON_SQLITE, title: 'an unclaimed attempt can be closed' }],
  },
  {
    name: 'a look-up after a lost activity closes over a gap',
    edits: [{ file: CLOSE, find: "  'previousMissing',\n", replace: '' }],
    tests: [
      {
        path: ON_SQLITE,
        title: 'closing an attempt over a gap, in another ledger or for another request fails and writes nothing',
      },
      { path: 'test/ledger/explorer.test.ts', title: 'that lacks an attempt which the run has passed' },
    ],
  },
  {
    name: 'a look-up after a lost activity closes an attempt on an older copy before anybody has accepted it',
    edits: [{ file: CLOSE, find: 'if (known.isRestored)', replace: 'if (known.isRestored && attempt.attempt < 0)' }],
    tests: [{ path: ON_SQLITE, title: 'an attempt that an older copy may lack cannot be closed' }],
  },
  {
    name: 'a look-up after a lost activity closes an attempt that began before an older copy was accepted',
    edits: [
      { file: CLOSE, find: 'if (known.mayLackAttempt)', replace: 'if (known.mayLackAttempt && attempt.attempt < 0)' },
    ],
    tests: [
      { path: ON_SQLITE, title: 'an attempt that an older copy may lack cannot be closed' },
      { path: 'test/hazards/restored-in-flight-slow.test.ts', title: 'when a restored copy that lacks its claim' },
    ],
  },
  {
    name: 'a resend is taken while the first request may still arrive',
    edits: [
      {
        file: 'src/ledger/inquiries/rules.ts',
        find: "if (state === 'unknown' && resendInMs > 0) return",
        replace: "if (state === 'unknown' && resendInMs < 0) return",
      },
    ],
    tests: [
      { path: 'test/workflows/resend-too-early.test.ts', title: 'is refused while its request may still arrive' },
    ],
  },
];
