/** Part of the contract suite: the ledger detects every direct change of its consents and decisions in the database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainFinding } from '../../src/ledger/audit/audit-chain.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { attempted, claimAs, consentOf, decisionOf, INQUIRY, SHARE, TRACE } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

const TABLES = ['consents', 'decisions', 'audit_chain', 'ledger_identity'];

const keyOf = (consentId: string) => ['J-1', 'S1', '01', consentId, 'granted'];
const consent = (consentId: string) => ({ table: 'consents' as const, key: keyOf(consentId) });
const at = (kind: ChainFinding['kind'], position: number, consentId?: string): ChainFinding => ({
  ...{ kind, position },
  ...(consentId === undefined ? {} : consent(consentId)),
});
const DECISION = { table: 'decisions' as const, key: [TRACE, 'D-1'] };

/** Entries 1 to 4 are consents C-1 to C-4, entry 5 is a decision. */
async function fill(ledger: Ledger): Promise<void> {
  const { ledgerId } = ledger.identity;
  for (const consentId of ['C-1', 'C-2', 'C-3', 'C-4']) {
    // Rows of the same millisecond must differ in more than their ids.
    await ledger.recordConsents(ledgerId, [consentOf({ consentId, proof: `a.b.${consentId}` })]);
  }
  await attempted(ledger, {}, { state: 'unknown' });
  await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({}));
}

const removed = (row: string, position: number) => [
  `DELETE FROM ${row}`,
  `DELETE FROM audit_chain WHERE position = ${position}`,
];
const moved = (from: number, to: number) => `UPDATE audit_chain SET position = ${to} WHERE position = ${from}`;

const EMPTY_HEAD = "UPDATE ledger_identity SET chain_entries = 0, chain_hash = '', chain_mac = ''";

const TAMPERINGS: readonly [string, string[], ChainFinding[]][] = [
  [
    'a consent that was changed',
    ["UPDATE consents SET end_user_code = 'EU9' WHERE consent_id = 'C-2'"],
    [at('changed', 2, 'C-2')],
  ],
  [
    'a proof that was removed from its consent',
    ["UPDATE consents SET proof = NULL WHERE consent_id = 'C-4'"],
    [at('changed', 4, 'C-4')],
  ],
  [
    'evidence that is no longer JSON',
    ["UPDATE consents SET evidence = 'none' WHERE consent_id = 'C-1'"],
    [at('changed', 1, 'C-1')],
  ],
  [
    'a decision whose author was changed',
    ["UPDATE decisions SET by = 'somebody else'"],
    [{ ...at('changed', 5), ...DECISION }],
  ],
  [
    'a decision that was falsely marked as proven',
    ["UPDATE decisions SET proven_by = 'decisions-1'"],
    [{ ...at('changed', 5), ...DECISION }],
  ],
  [
    'a hash that was replaced by an invented value',
    [`UPDATE audit_chain SET hash = '${'0'.repeat(64)}' WHERE position = 2`],
    [at('changed', 2, 'C-2'), at('outOfOrder', 3, 'C-3')],
  ],
  [
    'a row that was removed without its entry',
    ["DELETE FROM consents WHERE consent_id = 'C-3'"],
    [at('removed', 3, 'C-3')],
  ],
  [
    'the first row, removed with its entry',
    removed("consents WHERE consent_id = 'C-1'", 1),
    [{ kind: 'removed', position: 1, rows: 1 }],
  ],
  [
    'rows in the middle, removed with their entries',
    [...removed("consents WHERE consent_id = 'C-2'", 2), ...removed("consents WHERE consent_id = 'C-3'", 3)],
    [{ kind: 'removed', position: 2, rows: 2 }],
  ],
  ['the last row, removed with its entry', removed('decisions', 5), [{ kind: 'removed', position: 5, rows: 1 }]],
  [
    'the last row, removed together with its entry, and a head that matches',
    [
      ...removed('decisions', 5),
      'UPDATE ledger_identity SET chain_entries = 4, chain_hash = (SELECT hash FROM audit_chain WHERE position = 4)',
    ],
    [{ kind: 'headChanged' }],
  ],
  [
    'a removed row whose gap was closed',
    [...removed("consents WHERE consent_id = 'C-2'", 2), moved(3, 2), moved(4, 3), moved(5, 4)],
    [at('outOfOrder', 2, 'C-3'), { kind: 'removed', position: 5, rows: 1 }],
  ],
  [
    'a row that was inserted',
    [
      "INSERT INTO consents SELECT journey_id, share_id, applicant_id, 'C-X', decision, decided_at, end_user_code, end_user, evidence, proof, received_at, recorded_at, first_run_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM consents WHERE consent_id = 'C-1'",
    ],
    [{ kind: 'inserted', ...consent('C-X') }],
  ],
  [
    'an entry that was inserted',
    ['INSERT INTO audit_chain SELECT 6, row_table, \'["x"]\', hash, hash FROM audit_chain WHERE position = 5'],
    [{ kind: 'inserted', position: 6, table: 'decisions' }],
  ],
  [
    'two rows whose positions were swapped',
    [moved(2, 99), moved(3, 2), moved(99, 3)],
    [at('outOfOrder', 2, 'C-3'), at('outOfOrder', 3, 'C-2'), at('outOfOrder', 4, 'C-4')],
  ],
  [
    'two rows whose ids were swapped',
    ['C-2:C-Y', 'C-3:C-2', 'C-Y:C-3'].map((names) => {
      const [from, to] = names.split(':');
      return `UPDATE consents SET consent_id = '${to}' WHERE consent_id = '${from}'`;
    }),
    [at('changed', 2, 'C-2'), at('changed', 3, 'C-3')],
  ],
  ['a head that was emptied', [EMPTY_HEAD], [{ kind: 'headChanged' }]],
];

export function chainTests(opened: Open, backend: LedgerBackend): void {
  /** Executes the statements: in one call on PostgreSQL, one by one on SQLite. */
  async function execute(url: string, statements: readonly string[]): Promise<void> {
    const isPostgres = url.startsWith('postgres');
    for (const sql of isPostgres ? [statements.join('; ')] : statements) await backend.execute(url, sql);
  }

  /** Acts as an attacker who has all rights on the database, but no key. */
  async function tamper(url: string, statements: readonly string[]): Promise<void> {
    const isPostgres = url.startsWith('postgres');
    const unguarding = TABLES.flatMap((table) =>
      isPostgres
        ? [`ALTER TABLE ${table} DISABLE TRIGGER USER`]
        : [`DROP TRIGGER IF EXISTS ${table}_no_update`, `DROP TRIGGER IF EXISTS ${table}_no_delete`],
    );
    await execute(url, [...unguarding, ...statements]);
  }

  test('the chain has each consent and each decision once, in the order in which they arrived', async (t) => {
    const { ledger } = await opened(t);
    const empty = await ledger.verifyChain();
    assert.deepEqual([empty.entries, empty.findings], [0, []]);
    await fill(ledger);
    await fill(ledger);
    const filled = await ledger.verifyChain({ expectHead: empty.head });
    assert.deepEqual([filled.entries, filled.findings], [5, []]);
    assert.match(filled.head, /^[0-9a-f]{64}$/);
    await claimAs(ledger, { inquiry: SHARE, consents: [consentOf({ consentId: 'C-5' })] });
    const later = await ledger.verifyChain({ expectHead: filled.head });
    assert.deepEqual([later.entries, later.findings], [6, []]);
  });

  test('verification finds each change that bypasses the ledger', async (t) => {
    const { ledger, url } = await opened(t);
    await fill(ledger);
    await tamper(
      url,
      TABLES.map((table) => `CREATE TABLE copy_of_${table} AS SELECT * FROM ${table}`),
    );
    for (const [what, statements, findings] of TAMPERINGS) {
      await t.test(what, async () => {
        await execute(url, statements);
        assert.deepEqual((await ledger.verifyChain()).findings, findings);
      });
      await execute(
        url,
        TABLES.flatMap((table) => [`DELETE FROM ${table}`, `INSERT INTO ${table} SELECT * FROM copy_of_${table}`]),
      );
      assert.deepEqual((await ledger.verifyChain()).findings, []);
    }
  });

  test('verification finds a changed head even after further appends', async (t) => {
    const { ledger, url, again } = await opened(t);
    await fill(ledger);
    await tamper(url, [...removed('decisions', 5), EMPTY_HEAD]);
    const reopened = await again();
    await reopened.recordConsents(ledger.identity.ledgerId, [consentOf({ consentId: 'C-6' })]);
    const report = await ledger.verifyChain();
    assert.deepEqual([report.entries, report.findings], [6, [{ kind: 'headChanged', position: 5 }]]);
  });

  test('an older head that was put back is found by verification, and blocks no append', async (t) => {
    const { ledger, url } = await opened(t);
    await fill(ledger);
    const before = await headOf(url);
    await ledger.recordConsents(ledger.identity.ledgerId, [consentOf({ consentId: 'C-6' })]);
    await tamper(url, [before]);
    await ledger.recordConsents(ledger.identity.ledgerId, [consentOf({ consentId: 'C-7' })]);
    const report = await ledger.verifyChain();
    assert.deepEqual([report.entries, report.findings], [8, [{ kind: 'headChanged', position: 7 }]]);
  });

  test('an older head with its rows is found by verification against a newer head that was kept elsewhere', async (t) => {
    const { ledger, url } = await opened(t);
    await fill(ledger);
    const before = await headOf(url);
    await ledger.recordConsents(ledger.identity.ledgerId, [consentOf({ consentId: 'C-6' })]);
    const { head } = await ledger.verifyChain();
    await tamper(url, [...removed("consents WHERE consent_id = 'C-6'", 6), before]);
    assert.deepEqual((await ledger.verifyChain()).findings, []);
    assert.deepEqual((await ledger.verifyChain({ expectHead: head })).findings, [{ kind: 'otherChain' }]);
  });

  /** Returns the statement that restores the current head. */
  async function headOf(url: string): Promise<string> {
    const [row] = (await backend.execute(url, 'SELECT * FROM ledger_identity')) as Record<string, string>[];
    const { chain_entries: entries, chain_hash: hash, chain_mac: mac } = row ?? {};
    return `UPDATE ledger_identity SET chain_entries = ${entries}, chain_hash = '${hash}', chain_mac = '${mac}'`;
  }

  test('every append of concurrent writers is chained', async (t) => {
    const { ledger, again, ledgerId } = await opened(t);
    const others = [ledger, await again(), await again()];
    await attempted(ledger, {}, { state: 'notEntitled' });
    await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const one = others[index % 3] ?? ledger;
        // Each pair is written in both orders.
        const ids = index % 2 === 0 ? ['A', 'B'] : ['B', 'A'];
        await one.recordConsents(
          ledgerId,
          ids.map((name) => consentOf({ consentId: `C-${name}-${index >> 1}` })),
        );
        const customerTraceNumber = `PQMANY${index}`;
        const decision = decisionOf({ action: 'abandon', customerTraceNumber });
        await one.recordDecision(ledgerId, { ...INQUIRY, customerTraceNumber }, decision);
      }),
    );
    const report = await ledger.verifyChain();
    assert.deepEqual([report.entries, report.findings], [24, []]);
  });

  test('rows that exceed one batch are chained and verified', async (t) => {
    const { ledger, url } = await opened(t);
    const consents = Array.from({ length: 520 }, (_, index) => consentOf({ consentId: `C-${1_000 + index}` }));
    await ledger.recordConsents(ledger.identity.ledgerId, consents);
    assert.deepEqual((await ledger.verifyChain()).findings, []);
    await tamper(url, ["UPDATE consents SET end_user = 'X' WHERE consent_id = 'C-1510'"]);
    const { findings } = await ledger.verifyChain();
    assert.deepEqual(findings, [{ kind: 'changed', position: 511, ...consent('C-1510') }]);
  });
}
