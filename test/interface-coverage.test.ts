/** Each row and rule of the interface has its test, and docs/interface-coverage.md lists those that are not exact. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problemsOf, readCoverage } from './support/interface-coverage.ts';
import { missingBecause } from './support/named-tests.ts';

test('every row, rule and limit of the interface is exact, a setting or a choice, and has a test that exists', () => {
  assert.deepEqual(problemsOf(readCoverage()), []);
});

describe('the check of the coverage page', () => {
  const file = 'test/interface-coverage.test.ts';
  const line = (row: string, here = 'exact') => `## 1 Overview\n\n| \`${row}\` | x | ${here} |\n`;
  const told = (page: string, tests?: string[]) =>
    problemsOf(readCoverage(page, { '1 one endpoint': tests ?? [`${file} › what`] })).filter((problem) =>
      problem.startsWith('1 one e'),
    );

  test('reports a row without a line, a line without a row, and a row with two lines', () => {
    const good = line('one endpoint');
    assert.deepEqual(told('', ['test/gateway/requests.test.ts › state codes are sent in capitals']), []);
    assert.ok(problemsOf(readCoverage('', {})).includes('1 credentials are issued: no line'));
    assert.match(told(line('one else')).join(), /1 one else: the interface has no such row/);
    assert.match(told(good + good).join(), /two lines/);
  });

  test('reports a test of the sandbox where a test of the product is required', () => {
    const tests = ['test/sandbox/answers.test.ts › answers no record without a consumer'];
    assert.match(told(line('one endpoint'), tests).join(), /a test of the sandbox in the product's place/);
  });

  test('reports a row without a test', () => {
    assert.deepEqual(told(line('one endpoint'), []), ['1 one endpoint: no test']);
  });

  test('reports an unknown kind, and a setting or a choice without its name', () => {
    const tests = ['test/gateway/requests.test.ts › state codes are sent in capitals'];
    const wrong = ['known from elsewhere', 'setting', 'setting: by default all', 'choice', 'exact: but for blanks'];
    for (const here of wrong) assert.equal(told(line('one endpoint', here), tests).length, 1, here);
    for (const here of ['exact', 'setting: `GATEWAY_AUDIENCE`', 'choice: any']) {
      assert.deepEqual(told(line('one endpoint', here), tests), [], here);
    }
  });
});

describe('a test that a page names', () => {
  const NAMED = { file: 'test/gateway/requests.test.ts', title: '' };

  test('is found by its whole title, also if a template fills in parts of the title', () => {
    const cases: [title: string, missing: string | null][] = [
      ['state codes are sent in capitals', null],
      ['state codes are sent', 'no test of this title'],
      ['an applicant with an SSN with dashes is refused by path', null],
      ['an applicant with an SSN with dashes is refused', 'no test of this title'],
    ];
    for (const [title, missing] of cases) assert.equal(missingBecause({ ...NAMED, title }), missing, title);
    assert.equal(missingBecause({ file: 'test/gone.test.ts', title: 'x' }), 'no such file');
  });

  test('does not count if it may be skipped', () => {
    // This test is skipped when root runs it: root may write every file.
    const named = {
      file: 'test/ledger/sqlite-ledger.test.ts',
      title: 'a ledger file without write permission is unavailable',
    };
    assert.equal(missingBecause(named), 'skipped');
  });
});
