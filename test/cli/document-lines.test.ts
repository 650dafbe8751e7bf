import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDocument, toText } from '../../src/cli/output/output.ts';
import { adaptCommands } from '../../src/cli/output/program-call.ts';

test('an answer is printed with every fact, and each list as a table or as rows below each other', () => {
  const answer = {
    kind: 'paused',
    pause: { profile: 'east', ended: null },
    asOf: '2026-01-02T03:04:05Z',
    findings: [],
    stages: [
      { runKey: 'J-1', productCode: 'PREQUAL', count: 2, command: 'credit-journey status J-1' },
      { runKey: 'J-2', productCode: 'PREAPP', note: 'late' },
    ],
    applicants: [{ applicantId: '1A', names: [{ first: 'A', last: 'SAMPLE' }] }],
  };
  assert.deepEqual(formatDocument(answer, 80), [
    'kind           paused',
    'pause profile  east',
    'findings  none',
    'stages',
    '  PRODUCT CODE  COUNT  NOTE  RUN KEY',
    '  PREQUAL       2            J-1',
    `      ${adaptCommands('credit-journey status J-1')}`,
    '  PREAPP               late  J-2',
    'applicants',
    '  applicant id  1A',
    '  names',
    '    FIRST  LAST',
    '    A      SAMPLE',
  ]);
  assert.deepEqual(formatDocument({ data: [], hasMore: true }, 80), ['none', 'There are more.']);
  assert.equal(toText({ posted: 'yes', consents: [], legalHolds: [] }), 'posted yes, consents none, legal holds none');
});

test('a printed answer has no terminal control characters, and no line is wider than the terminal', () => {
  const text = `BANK\u001b[2J\u202e ${'word '.repeat(40)}`;
  const lines = formatDocument({ fact: text, list: [text], rows: [{ text }] }, 80);
  assert.ok(!/\p{C}/u.test(lines.join('')));
  for (const line of lines) assert.ok(line.length <= 80, line);
});
