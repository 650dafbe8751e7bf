import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { FAILURE_TYPES, FAILURES, type FailureType } from '../../src/model/failure-types.ts';
import {
  checkProviderStatement,
  type Judgment,
  listPermittingStatements,
  PROVIDER_SAID,
} from '../../src/model/provider-word.ts';

const PROTOCOL = new URL('../../docs/protocol.md', import.meta.url);

/** The columns of the documented table, after the failure type. */
const COLUMNS: Record<string, Judgment & { isShare?: true }> = {
  resend: { action: 'resend' },
  'accept a record': { action: 'accept', outcome: 'record' },
  'accept none': { action: 'accept', outcome: 'noRecord' },
  'accept none, of a share': { action: 'accept', outcome: 'noReport', isShare: true },
  amend: { action: 'amend' },
  abandon: { action: 'abandon' },
};

/** Returns the table of decisions by failure type: for each failure type the words in its row. */
function documentedWords(markdown: string): Record<string, string[]> {
  const lines = markdown.split('\n');
  const at = lines.findIndex((line) => line.startsWith('| failure type | resend |'));
  assert.ok(at >= 0, 'docs/protocol.md has no table of reason × action');
  const cells = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  assert.deepEqual(cells(lines[at] ?? '').slice(1), Object.keys(COLUMNS));
  const end = lines.findIndex((line, index) => index > at && !line.startsWith('|'));
  return Object.fromEntries(
    lines.slice(at + 2, end).flatMap((line) => {
      const [types = '', ...words] = cells(line);
      return [...types.matchAll(/`(\w+)`/g)].map(([, type]) => [type, words]);
    }),
  );
}

function cellOf(failureType: FailureType, { isShare, ...decision }: Judgment & { isShare?: true }): string {
  if (!FAILURES[failureType].actions.includes(decision.action)) return '';
  const words = listPermittingStatements({ failureType, productCode: isShare ? 'SECONDUSE' : 'CR' }, decision);
  return words.length === PROVIDER_SAID.length ? 'any' : words.join(', ');
}

test('docs/protocol.md lists the same decisions and provider statements for each failure type as the code', async () => {
  const documented = documentedWords(await readFile(PROTOCOL, 'utf8'));
  const inCode = Object.fromEntries(
    FAILURE_TYPES.map((type) => [type, Object.values(COLUMNS).map((column) => cellOf(type as FailureType, column))]),
  );
  assert.deepEqual(documented, inCode);
});

test('a record is accepted only if the provider says that it was posted, for every failure type', () => {
  for (const failureType of FAILURE_TYPES) {
    for (const productCode of ['PREAPP', 'FAILSAFE', 'ACCTRVW', 'SECONDUSE'] as const) {
      for (const providerSaid of PROVIDER_SAID) {
        const problem = checkProviderStatement(
          { failureType, productCode },
          { action: 'accept', outcome: 'record', providerSaid },
        );
        assert.equal(problem === null, providerSaid === 'posted');
        if (problem) assert.match(problem, /^\/providerSaid must be posted: accept with record after/);
      }
    }
  }
});
