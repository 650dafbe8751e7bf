/**
 * The promise's fences, each taken down by an edit that a hurried change could make, and the tests that must notice.
 * `find` must be in the file exactly once: where the code has moved on, so must this list.
 */

import { BROKEN_API } from './api-rules.ts';
import { BROKEN_CLAIM_RULES } from './claim-rules.ts';
import { BROKEN_RULES } from './rules.ts';

export interface BrokenBuild {
  name: string;
  edits: readonly { file: string; find: string; replace: string }[];
  /** `path` as `npm test` takes it; `title`: a part of the test's. */
  tests: readonly { path: string; title: string }[];
  /** A run of the chaos harness (docs/reliability.md) that must find a broken promise too. */
  chaos?: { seed: number; journeys: number; minutes: number };
}

/** A claim that wins even if the ledger already has one. */
const OVERWRITING_CLAIM = {
  file: 'src/ledger/database/rows.ts',
  find: "${orKeep ? 'ON",
  replace:
    "${String(table) === 'attempts' ? \"ON CONFLICT (customer_trace_number, attempt) DO UPDATE SET state = 'sending'\" : orKeep ? 'ON",
};

const RESET = 'test/hazards/operator-reset-slow.test.ts';
const RESTART = 'test/hazards/operator-restart.test.ts';
const FAILURE_TABLE = 'test/workflows/failure-table.test.ts';

/** Long enough for each of these to do its harm. */
const STORM = { seed: 662, journeys: 24, minutes: 0.4 };
/** With two joint applications that are answered with each other's SSNs. */
const SWAPPED = { seed: 7_866, journeys: 36, minutes: 0.4 };
/** With answers that end by a reset, and inquiries that are sent again by a decision and then run again. */
const RESETS = { seed: 289, journeys: 30, minutes: 0.4 };

export const BROKEN_BUILDS: readonly BrokenBuild[] = [
  {
    name: 'the fence off: every claim is allowed',
    chaos: STORM,
    edits: [
      {
        file: 'src/ledger/claim.ts',
        find: '    if (verdict) return verdict;\n',
        replace: "    if (verdict?.kind === 'ledgerChanged') return verdict;\n",
      },
      OVERWRITING_CLAIM,
    ],
    tests: [
      { path: RESET, title: 'sends nothing: stages, gates, consents and a share' },
      { path: RESTART, title: 'after it was terminated takes its first answer from the ledger' },
    ],
  },
  {
    name: 'five activity attempts',
    chaos: STORM,
    edits: [
      {
        file: 'src/workflows/run/activity-stubs.ts',
        find: 'const ONCE = { maximumAttempts: 1, nonRetryableErrorTypes: NEVER_REPEATED }',
        replace: 'const ONCE = { maximumAttempts: 5, nonRetryableErrorTypes: NEVER_REPEATED.slice(0, 0) }',
      },
      { file: 'src/activities/submit-inquiry.ts', find: 'if (info.attempt > 1)', replace: 'if (info.attempt > 5)' },
    ],
    tests: [
      { path: 'test/hazards/operator-queue-slow.test.ts', title: 'with five tries and a shorter start-to-close' },
    ],
  },
  {
    name: 'error codes in place of wire markers: a socket error means that nothing was sent',
    chaos: RESETS,
    edits: [
      {
        file: 'src/gateway/exchange.ts',
        find: "else if (this.#startedAt !== undefined) this.#finish({ kind: 'lost', startedAt: this.#startedAt });",
        replace:
          "else if (this.#startedAt !== undefined && !['ECONNRESET', 'UND_ERR_SOCKET'].includes((error as { code?: string }).code ?? '')) this.#finish({ kind: 'lost', startedAt: this.#startedAt });",
      },
    ],
    tests: [{ path: FAILURE_TABLE, title: 'a reset after posting becomes a hold' }],
  },
  {
    name: 'decisions not spent: a resend permits its attempt each time that it is replayed',
    chaos: RESETS,
    edits: [
      {
        file: 'src/ledger/claim.ts',
        find: '  for (const rule of rules) {\n',
        replace:
          "  const standing = findResend(known, claim.attempt);\n  if (standing) return { kind: 'claim', attempt: claim.attempt, permittedBy: standing.decisionId };\n  for (const rule of rules) {\n",
      },
      OVERWRITING_CLAIM,
    ],
    tests: [{ path: RESET, title: 'an operator’s resend' }],
  },
  {
    name: 'trace numbers by the order of events',
    chaos: STORM,
    edits: [
      {
        file: 'src/model/trace-number.ts',
        find: "    parts.shareId ?? '',\n",
        replace: '    made++,\n',
      },
      {
        file: 'src/model/trace-number.ts',
        find: 'export const MAX_ORDINAL = 99;\n',
        replace: 'export const MAX_ORDINAL = 99;\nlet made = 0;\n',
      },
    ],
    tests: [{ path: 'test/hazards/operator-consents.test.ts', title: 'also after a reset that forgets the consents' }],
  },
  {
    name: 'the SSN check off, and that of the name',
    chaos: SWAPPED,
    edits: [
      {
        file: 'src/gateway/who-is-who.ts',
        find: "  if (ssnMismatch === 'hold' && matchSsn(entry, applicant) === 'different') {",
        replace: "  if (ssnMismatch === 'hold' && expected.length === 0) {",
      },
      {
        file: 'src/gateway/who-is-who.ts',
        find: '  if (hasSsnOfAnother(entry, applicant, expected)) return',
        replace: '  if (hasSsnOfAnother(entry, applicant, [])) return',
      },
      {
        file: 'src/gateway/who-is-who.ts',
        find: '  if (consumer && !mayBe(consumer, applicant) && expected.some(',
        replace: '  if (consumer && expected.length === 0 && expected.some(',
      },
    ],
    tests: [{ path: FAILURE_TABLE, title: 'the applicants swapped becomes a hold' }],
  },
  {
    name: 'another ledger is as good as the one that was used',
    edits: [
      {
        file: 'src/ledger/claim.ts',
        find: "(known.ledgerId === claim.ledgerId ? null : { kind: 'ledgerChanged' })",
        replace: "(known.ledgerId === '' ? { kind: 'ledgerChanged' } : claim.attempt > 0 ? null : null)",
      },
      {
        file: 'src/ledger/claim.ts',
        find: "claim.attempt === 1 || findAttempt(known, claim.attempt - 1) ? null : { kind: 'ledgerChanged' }",
        replace: "claim.attempt >= 1 || findAttempt(known, claim.attempt - 1) ? null : { kind: 'ledgerChanged' }",
      },
    ],
    tests: [
      {
        path: 'test/hazards/ledger-changed-slow.test.ts',
        title: 'on SQLite, a journey that finds a foreign ledger',
      },
      {
        path: 'test/hazards/ledger-changed-slow.test.ts',
        title: 'on SQLite, a journey that finds an older copy',
      },
    ],
  },
  {
    name: 'a claim is not compared with what was asked for before',
    edits: [
      {
        file: 'src/ledger/claim.ts',
        find: "known.digest === null || known.digest === claim.digest ? null : { kind: 'requestDiffers' }",
        replace: "known.digest !== '' || known.digest === claim.digest ? null : { kind: 'requestDiffers' }",
      },
    ],
    tests: [{ path: RESTART, title: 'is held without the answer to the first request' }],
  },
  {
    name: 'a look-up is not compared with what was asked for before',
    edits: [
      {
        file: 'src/ledger/inquiries/inquiry-transactions.ts',
        find: '  if (known.digest === null || known.digest === digest) return;\n',
        replace: '  if (known.digest === null || digest) return;\n',
      },
    ],
    tests: [{ path: RESTART, title: 'is held by the look-up' }],
  },
  {
    name: 'consent is checked for the first attempt alone',
    edits: [
      {
        file: 'src/workflows/inquiry/inquiry-protocol.ts',
        find: "    return this.#findGrants() === null ? { kind: 'notPermitted' } : null;\n",
        replace:
          "    return this.#state.attempt === 1 && this.#findGrants() === null ? { kind: 'notPermitted' } : null;\n",
      },
    ],
    tests: [
      { path: 'test/hazards/operator-consents.test.ts', title: 'is revoked while it is on hold is not sent again' },
    ],
  },
  {
    name: 'a late answer is the outcome',
    edits: [
      {
        file: 'src/ledger/inquiries/inquiry-transactions.ts',
        find: 'if (isOpen && isLatest && !known.abandoned)',
        replace: 'if (isOpen || isLatest)',
      },
    ],
    tests: [{ path: 'test/hazards/operator-late-answer.test.ts', title: 'after a resend decision' }],
  },
  {
    name: 'the profile of the run is not held against the worker’s',
    edits: [
      {
        file: 'src/activities/inquiry-request.ts',
        find: 'if (!hasFingerprint(profile, run.profileFingerprint))',
        replace: "if (run.profileFingerprint === '')",
      },
    ],
    tests: [{ path: 'test/hazards/ledger-profile-changed-slow.test.ts', title: 'with another customer' }],
  },
  ...BROKEN_CLAIM_RULES,
  ...BROKEN_RULES,
  ...BROKEN_API,
];
