import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import pc from 'picocolors';
import { changesBetween } from '../../src/changes/changes-between.ts';
import { formatTable, wrap } from '../../src/cli/output/output.ts';
import { formatStatus } from '../../src/cli/output/status-lines.ts';
import type { StageChanges } from '../../src/messages/journey/change-summary.ts';
import type { JourneyStatus, StageStatus } from '../../src/messages/journey/shapes.ts';
import { needsPerson } from '../../src/words/runs.ts';

const output = { width: 80, colors: pc.createColors(false) };

const UNTIL = '2026-02-01T00:00:00Z';

const STATUS: JourneyStatus = {
  journeyId: 'J-1',
  environment: 'sandbox',
  state: 'waitingForConsent',
  waitingFor: 'share S-1',
  stages: [
    { productCode: 'PREQUAL', state: 'record', attempts: 2, reportReferenceNumber: 'R-1' },
    { productCode: 'PREAPP', state: 'noRecord', attempts: 1 },
    { productCode: 'PRECLOSE', state: 'pending', attempts: 0 },
  ],
  shares: [{ shareId: 'S-1', state: 'awaitingConsent', waitingFor: ['1A', '2A'] }],
  holds: [],
  refusedMessages: [],
  refusedMessagesTotal: 0,
};

test('a status shows the counts of changes before closing, or why there are none', () => {
  const counts = { ...changesBetween({ applicants: [] }, { applicants: [] }).summary.counts, newAccounts: 2 };
  const { totals } = changesBetween({ applicants: [] }, { applicants: [] }).summary;
  const lines = (changes: StageChanges) => {
    const stages: StageStatus[] = [{ productCode: 'PRECLOSE', state: 'record', attempts: 1, changes }];
    return formatStatus({ ...STATUS, stages }, output);
  };
  assert.ok(lines({ comparedWith: 'PREAPP', counts, totals }).includes('  PRECLOSE since PREAPP: new accounts 2'));
  const none = lines({ comparedWith: 'PREAPP', unavailable: 'noReport' });
  assert.ok(none.includes('  PRECLOSE since PREAPP: not compared (no report)'));
});

const FLAGGED: StageStatus = {
  ...{ productCode: 'PREQUAL', state: 'record', attempts: 1, reportReferenceNumber: 'R-1' },
  attention: 'ssnMismatch',
};

const HELD: JourneyStatus = {
  ...STATUS,
  state: 'held',
  holds: [
    {
      customerTraceNumber: 'PQABCDEFGHIJKLMNOPQRSTUVWX00',
      productCode: 'SECONDUSE',
      shareId: 'x'.repeat(40),
      failureType: 'OutcomeUnknown',
      since: '2026-01-02T03:04:05.678Z',
      attempts: 2,
      httpStatus: 503,
      allowedActions: ['resend', 'accept', 'abandon'],
    },
  ],
  refusedMessages: [{ message: 'consent', at: '2026-01-02T03:04:05Z', reason: 'a long reason '.repeat(20).trim() }],
  refusedMessagesTotal: 7,
};

describe('the status of a journey on a terminal', () => {
  test('is printed as sentences', () => {
    assert.deepEqual(formatStatus(STATUS, output), [
      'Journey J-1 · sandbox · Waits for the consent of 1A, 2A to share S-1.',
      'Stages',
      '  PREQUAL   record     2 attempts  reference R-1',
      '  PREAPP    no record  1 attempt',
      '  PRECLOSE  pending',
      'Shares',
      '  S-1  awaiting consent  consent missing: 1A, 2A',
    ]);
  });

  test('names each pull of a stage, and the remedy for a report that is too old', () => {
    const again = { productCode: 'PREQUAL', occurrence: 2, state: 'record', attempts: 1 } as const;
    const stages = [...STATUS.stages.slice(0, 1), again, ...STATUS.stages.slice(2)];
    const tooOld = {
      state: 'waitingAtGate',
      waitingFor: 'PREAPP',
      reportTooOld: 'PREQUAL',
      waitingUntil: UNTIL,
    } as const;
    const lines = formatStatus({ ...STATUS, ...tooOld, stages, shares: [] }, output);
    const copied = lines.join('\n').replaceAll(/ \\\n\s*/g, ' ');
    for (const part of [
      '  PREQUAL (2)  record   1 attempt\n',
      'credit-journey advance J-1 --repeat PREQUAL --occurrence 3 --by WHO --reason WHY\n',
      'credit-journey advance J-1 --to PREAPP --accept-age --by WHO --reason WHY\n',
    ]) {
      assert.ok(`${copied}\n`.includes(part), copied);
    }
  });

  test('shows the subject of a hold, its allowed actions, and the refused messages', () => {
    const text = formatStatus(HELD, output).join('\n');
    const command = 'credit-journey resolve J-1 PQABCDEFGHIJKLMNOPQRSTUVWX00 --attempt 2';
    assert.ok(text.replaceAll(/ \\\n\s*/g, ' ').includes(command), 'it can be copied as it stands');
    const prose = text.replaceAll(/\n\s*/g, ' ');
    for (const part of [
      'An operator must decide about SECONDUSE (OutcomeUnknown), since 2026-01-02 03:04 UTC.',
      '0 or 1 inquiry. Only the provider knows which',
      'Runbook: docs/runbook/outcome-unknown.md',
      'HTTP 503',
      'attempt 2',
      'resend, accept, abandon',
      'Refused messages (7)',
    ]) {
      assert.ok(prose.includes(part), part);
    }
  });

  test('shows each problem of a request or an answer, and the stage whose report has another SSN', () => {
    const [hold] = HELD.holds;
    const problems = [{ path: '/applicants/0/ssn', rule: 'must have 9 digits' }];
    const holds = hold ? [{ ...hold, failureType: 'InvalidInput' as const, problems }] : [];
    const lines = formatStatus({ ...HELD, holds, stages: [{ ...FLAGGED, attempts: 2 }] }, output);
    assert.ok(lines.includes('    Problem: /applicants/0/ssn must have 9 digits'), lines.join('\n'));
    const text = lines.join('\n').replaceAll(/\n\s*/g, ' ');
    assert.match(text, /The report has another SSN than the request: PREQUAL\. .*docs\/runbook\/ssn-mismatch\.md/);
  });

  test('says of a refused input that this run has posted nothing, and shows its problems instead of parts', () => {
    const problems = [{ path: '/applicants', rule: 'must have at most 2 entries' }];
    assert.deepEqual(formatStatus({ ...STATUS, environment: undefined, state: 'failed', problems }, output), [
      'Journey J-1 · Its input was refused: this run has posted nothing.',
      '  /applicants must have at most 2 entries',
    ]);
  });

  test('fits 80 columns', () => {
    const lines = formatStatus({ ...HELD, journeyId: 'x'.repeat(64) }, output);
    for (const line of [...lines, ...formatStatus(HELD, output)]) assert.ok(line.length <= 80, line);
    assert.match(lines.join(' '), /An operator must decide/, 'a long id hides nothing');
  });

  test('needs an operator if the run is held or a posted share is flagged', () => {
    assert.equal(needsPerson(STATUS), false);
    assert.equal(needsPerson(HELD), true);
    const shares: JourneyStatus['shares'] = [
      { shareId: 'S-1', state: 'posted', waitingFor: [], attention: 'revokedAfterPosting' },
    ];
    assert.equal(needsPerson({ state: 'completed', holds: [], shares }), true);
    assert.equal(needsPerson({ state: 'completed', holds: [], stages: [FLAGGED] }), true);
  });
});

describe('long lines', () => {
  test('are wrapped between words and aligned, without loss of text', () => {
    assert.deepEqual(
      formatTable(
        [
          ['name', '1', '234567'],
          ['a longer name', '1', '234567'],
        ],
        18,
      ),
      ['name           1', '    234567', 'a longer name  1', '    234567'],
    );
    assert.deepEqual(formatTable([['abcdef', '12345678', 'id']], 12), ['abcdef', '    12345678', '    id']);
    assert.deepEqual(wrap('one two three', 9, '  '), ['  one two', '  three']);
  });
});
