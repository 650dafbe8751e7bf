/** The details of a run that the Temporal UI shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import { FAILURE_TYPES, FAILURES, type FailureType } from '../../src/model/failure-types.ts';
import type { RunView } from '../../src/words/runs.ts';
import { type InquirySide, writeRunDetails, writeUncheckedDetails } from '../../src/workflows/run/run-details.ts';

const TRACE = 'PQLNW3EQ26XH2ZZOLSFOCN5GUK00';
const SINCE = '2026-01-05T10:00:00.123Z';

type JourneyView = RunView<JourneyStatus> & { run: InquirySide };

function currentDetails({ run, ...of }: JourneyView): string {
  return writeRunDetails(of, run);
}

function view(overrides: Partial<JourneyView> = {}): JourneyView {
  return {
    status: {
      journeyId: 'LOAN-1',
      environment: 'sandbox',
      state: 'running',
      stages: [],
      shares: [],
      holds: [],
      refusedMessages: [],
      refusedMessagesTotal: 0,
    },
    run: { customerId: 'HN0001', endUserCode: 'EU123' },
    stages: [{ productCode: 'PREQUAL', state: 'running', attempts: 0 }],
    shares: [],
    holds: [],
    isEnding: false,
    ...overrides,
  };
}

function hold(
  failureType: FailureType,
  overrides: Partial<JourneyView['holds'][number]> = {},
): JourneyView['holds'][number] {
  return {
    customerTraceNumber: TRACE,
    productCode: 'PREQUAL',
    failureType,
    since: SINCE,
    attempts: 1,
    allowedActions: [...FAILURES[failureType].actions],
    applicantIds: ['1A', '2A'],
    isDecided: false,
    ...overrides,
  };
}

function listActionsIn(details: string): string[] {
  return [...details.matchAll(/ --action (\w+)$/gm)].map(([, action = '']) => action);
}

for (const failureType of FAILURE_TYPES) {
  test(`the details of a hold for ${failureType} say what happened, and have the command of each allowed decision`, () => {
    const details = currentDetails(view({ holds: [hold(failureType)] }));
    assert.match(details, /\*\*What happened:\*\* \w/);
    assert.match(details, /\*\*On the consumer’s file:\*\* \S/);
    assert.deepEqual(listActionsIn(details), FAILURES[failureType].actions);
    for (const action of FAILURES[failureType].actions) {
      const command = `credit-journey resolve LOAN-1 \\\n ${TRACE} \\\n --attempt 1 --action ${action}`;
      assert.ok(details.includes(`\n${command}\n`));
    }
  });
}

test('the details of an unknown outcome have the question to the provider, and what may be on the credit file', () => {
  const details = currentDetails(view({ holds: [hold('OutcomeUnknown', { httpStatus: 503 })] }));
  assert.match(details, /0 or 1 inquiry/);
  const question = details.split('\n').find((line) => line.includes('We have no usable answer')) ?? '';
  for (const fact of [TRACE, 'PREQUAL', 'HN0001', 'EU123', '2026-01-05 10:00 UTC', '503']) {
    assert.ok(question.includes(fact), fact);
  }
  assert.match(details, /docs\/runbook\/outcome-unknown\.md/);
});

test('the details of a journey that is ending offer only decisions that send nothing', () => {
  const details = currentDetails(view({ holds: [hold('OutcomeUnknown')], isEnding: true }));
  assert.deepEqual(listActionsIn(details), ['accept', 'abandon']);
});

test('the first sentence of the details says what the run waits for', () => {
  const share = {
    shareId: 'INVESTOR-1',
    state: 'awaitingConsent' as const,
    waitingFor: ['2A'],
    sharedWith: { endUserCode: 'EU999' },
    until: SINCE,
  };
  const done = [{ productCode: 'PREQUAL' as const, state: 'record' as const, attempts: 1 }];
  const { status } = view();
  const sentences: [RegExp, JourneyView][] = [
    [/PREQUAL is under way\./, view()],
    [
      /PREQUAL is under way after 1 attempt: waiting 3 s/,
      view({
        status: { ...status, waitingFor: 'waiting 3 s' },
        stages: [{ productCode: 'PREQUAL', state: 'running', attempts: 1 }],
      }),
    ],
    [/gate before PREAPP .* 2026-01-05 10:00 UTC/, view({ gate: { before: 'PREAPP', since: SINCE, until: SINCE } })],
    [
      /report of PREQUAL is too old for the gate before PREAPP: .* a repeat, or acceptAge/,
      view({ status: { ...status, reportTooOld: 'PREQUAL' }, gate: { before: 'PREAPP', since: SINCE, until: SINCE } }),
    ],
    [
      /consent of 2A to share INVESTOR-1 with EU999.*silence means no/,
      view({ status: { ...status, state: 'waitingForConsent' }, stages: done, shares: [share] }),
    ],
    [/^\*\*It is under way\.\*\*$/, view({ stages: [], shares: [share] })],
    [/further shares and repeats are accepted until/, view({ stages: done, openUntil: SINCE })],
    [/An operator must decide about PREQUAL \(NotEntitled\)/, view({ holds: [hold('NotEntitled')] })],
    [/decision is being recorded/, view({ holds: [hold('NotEntitled', { isDecided: true })] })],
    [/was cancelled/, view({ status: { ...status, state: 'cancelled' } })],
    [/It has completed/, view({ status: { ...status, state: 'completed' } })],
  ];
  for (const [expected, of] of sentences) assert.match(currentDetails(of).split('\n')[0] ?? '', expected);
});

test('the details of a run without a validated input say so, and list the problems', () => {
  assert.match(writeUncheckedDetails({ endedAs: undefined, inputProblems: undefined }), /input is being checked/);
  const problems = [{ path: '/applicants/0/ssn', rule: 'must have 9 digits' }];
  const asking = writeUncheckedDetails({
    endedAs: undefined,
    inputProblems: [{ path: '/profile', rule: 'is new' }],
  });
  assert.match(asking, /^\*\*No worker that was asked has its gateway profile[\s\S]*`\/profile` is new/);
  const refused = writeUncheckedDetails({ endedAs: 'failed', inputProblems: problems });
  assert.match(
    refused,
    /^\*\*Its input was refused: this run has posted nothing\.\*\*[\s\S]*`\/applicants\/0\/ssn` must have 9 digits/,
  );
});

test('the details of a gate have the command that passes it', () => {
  const gate = { before: 'PREAPP', since: SINCE, until: SINCE } as const;
  const details = currentDetails(view({ gate }));
  assert.ok(details.includes('\ncredit-journey advance LOAN-1 \\\n --to PREAPP\n'));
  const { status } = view();
  const stages = [{ productCode: 'PREQUAL' as const, occurrence: 2, state: 'record' as const, attempts: 1 }];
  const tooOld = currentDetails(view({ status: { ...status, reportTooOld: 'PREQUAL' }, stages, gate }));
  assert.ok(tooOld.includes(' --repeat PREQUAL --occurrence 3 \\\n --by WHO --reason WHY\n'));
  assert.ok(tooOld.includes(' --to PREAPP --accept-age \\\n --by WHO --reason WHY\n'));
});

test('the details link to the runbook if the configuration has its address', () => {
  const run = { customerId: 'HN0001', runbookUrl: 'https://wiki.example.com/runbook' };
  const linked = currentDetails(view({ run, holds: [hold('OutcomeUnknown')] }));
  assert.ok(linked.includes('[outcome-unknown.md](https://wiki.example.com/runbook/outcome-unknown.md)'));
});

test('the details list the first problems of a request or an answer', () => {
  const problems = Array.from({ length: 7 }, (_, index) => ({ path: `/applicants/${index}/ssn`, rule: 'is required' }));
  const details = currentDetails(view({ holds: [hold('InvalidInput', { problems })] }));
  assert.match(details, /`\/applicants\/4\/ssn` is required\n- \*\*Further problems:\*\* 2\n/);
});

test('the details have the decisions right after the first sentence, and no tables', () => {
  const stages = [{ productCode: 'PREQUAL' as const, state: 'held' as const, attempts: 1, since: SINCE }];
  const details = currentDetails(view({ stages, holds: [hold('OutcomeUnknown')] }));
  assert.ok(details.indexOf('### How to resolve it') < details.indexOf('- **PREQUAL**: held, 2026-01-05 10:00 UTC'));
  assert.doesNotMatch(details, /^\|/m);
});

test('the details escape Markdown in the caller’s values, and abbreviate a reference', () => {
  const details = currentDetails(
    view({
      stages: [{ productCode: 'PREQUAL', state: 'record', attempts: 1, reportReferenceNumber: 'RPT-SECRET-4F2A' }],
      shares: [{ shareId: 'S1', state: 'posting', waitingFor: [], sharedWith: { endUser: '<b>[x](http://x)|`y`' } }],
    }),
  );
  assert.ok(details.includes('…4F2A'));
  assert.ok(!details.includes('SECRET'));
  assert.ok(details.includes(String.raw`\<b\>\[x\]\(http://x\)\|\`y\``));
});

test('the details stay short enough for the URL that the Temporal UI makes of them', () => {
  const shares = Array.from({ length: 20 }, (_, index) => ({
    shareId: `${'S'.repeat(38)}${index + 10}`,
    state: 'held' as const,
    waitingFor: ['1A', '2A'],
    sharedWith: { endUserCode: 'E'.repeat(16), endUser: 'N'.repeat(30) },
    since: SINCE,
    customerTraceNumber: TRACE,
    reportReferenceNumber: 'R'.repeat(30),
  }));
  const stages = (['PREQUAL', 'PREAPP', 'PRECLOSE'] as const).map((productCode) => ({
    productCode,
    state: 'record' as const,
    attempts: 1,
    since: SINCE,
    customerTraceNumber: TRACE,
    reportReferenceNumber: 'R'.repeat(30),
  }));
  const problems = Array.from({ length: 20 }, (_, index) => ({ path: `/applicants/${index}`, rule: 'x'.repeat(60) }));
  const holds = shares.map(({ shareId }) => hold('OutcomeUnknown', { productCode: 'SECONDUSE', shareId, problems }));
  const run = { customerId: 'HN0001', runbookUrl: `https://wiki.example.com/${'r'.repeat(60)}` };
  const typical = view({ stages, shares: shares.slice(0, 1), holds: [hold('OutcomeUnknown')] });
  const worst = view({ run, stages, shares, holds });
  for (const [of, limit] of [
    [typical, 6_500],
    [worst, 8_000],
  ] as const) {
    const { length } = encodeURIComponent(currentDetails(of));
    assert.ok(length < limit, `${length}`);
  }
});
