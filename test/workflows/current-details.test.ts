/** What the Temporal UI shows of a run, out of what the run knows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveInquiryProblem } from '../../src/messages/checks.ts';
import { ALLOWED_ACTIONS, FAILURE_TYPES, type FailureType } from '../../src/model/failure-types.ts';
import { opaqueIdProblem } from '../../src/model/opaque-id.ts';
import { currentDetails, type JourneyView } from '../../src/workflows/details/current-details.ts';

const TRACE = 'PQLNW3EQ26XH2ZZOLSFOCN5GUK00';
const SINCE = '2026-01-05T10:00:00.123Z';

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
    isCancelled: false,
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
    allowedActions: [...ALLOWED_ACTIONS[failureType]],
    applicantIds: ['1A', '2A'],
    isDecided: false,
    ...overrides,
  };
}

function inputsIn(details: string): Record<string, unknown>[] {
  return [...details.matchAll(/^\{\n[^`]*\n\}$/gm)].map(([json]) => JSON.parse(json) as Record<string, unknown>);
}

/** What a person fills in. */
function filledIn(input: Record<string, unknown>): Record<string, unknown> {
  const decision = { ...input, by: 'ops', reason: 'asked', providerSaid: 'notPosted' };
  if (input.action === 'amend') return { ...decision, applicants: [{ applicantId: '1A' }] };
  if (input.action !== 'accept') return decision;
  const reference = {
    reportReferenceNumber: 'RPT-1',
    requestedAt: SINCE,
    applicants: [{ applicantId: '1A', consumerId: 'C1' }],
  };
  return { ...decision, outcome: 'record', providerSaid: 'posted', reference };
}

for (const failureType of FAILURE_TYPES) {
  test(`a hold for ${failureType} says what happened, and each input that resolves it only lacks the person's word`, () => {
    const details = currentDetails(view({ holds: [hold(failureType)] }));
    assert.match(details, /\*\*What happened:\*\* \w/);
    assert.match(details, /\*\*On the consumer’s file:\*\* \S/);
    const inputs = inputsIn(details);
    assert.deepEqual(
      inputs.map(({ action }) => action),
      ALLOWED_ACTIONS[failureType],
    );
    for (const input of inputs) {
      assert.equal(opaqueIdProblem(input.decisionId as string, 64), null);
      assert.notEqual(resolveInquiryProblem(input), null, 'as it stands it is refused');
      assert.equal(resolveInquiryProblem(filledIn(input)), null);
      const command = `credit-journey resolve LOAN-1 \\\n ${TRACE} \\\n --attempt 1 --action ${input.action}`;
      assert.ok(details.includes(`\n${command}\n`));
    }
  });
}

test('an unknown outcome comes with the question to the provider, and with what may be on the file', () => {
  const details = currentDetails(view({ holds: [hold('OutcomeUnknown', { httpStatus: 503 })] }));
  assert.match(details, /0 or 1 inquiry/);
  const question = details.split('\n').find((line) => line.includes('We have no usable answer')) ?? '';
  for (const fact of [TRACE, 'PREQUAL', 'HN0001', 'EU123', '2026-01-05 10:00 UTC', '503']) {
    assert.ok(question.includes(fact), fact);
  }
  assert.match(details, /docs\/runbook\/outcome-unknown\.md/);
});

test('two holds of one attempt, one after the other, take decisions of their own', () => {
  const [first] = inputsIn(currentDetails(view({ holds: [hold('LedgerUnavailable')] })));
  const later = hold('LedgerUnavailable', { since: '2026-01-05T10:00:00.124Z' });
  const [second] = inputsIn(currentDetails(view({ holds: [later] })));
  assert.notEqual(first?.decisionId, second?.decisionId);
});

test('a journey that is ending offers only what sends nothing', () => {
  const inputs = inputsIn(currentDetails(view({ holds: [hold('OutcomeUnknown')], isEnding: true })));
  assert.deepEqual(
    inputs.map(({ action }) => action),
    ['accept', 'abandon'],
  );
});

test('the first sentence says what it waits for', () => {
  const share = {
    shareId: 'INVESTOR-1',
    state: 'awaitingConsent' as const,
    waitingFor: ['2A'],
    sharedWith: 'EU999',
    until: SINCE,
  };
  const done = [{ productCode: 'PREQUAL' as const, state: 'record' as const, attempts: 1 }];
  const { status } = view();
  const sentences: [RegExp, JourneyView | 'beingChecked' | 'endedUnchecked'][] = [
    [/input is being checked/, 'beingChecked'],
    [/ended before its input was taken/, 'endedUnchecked'],
    [/PREQUAL is under way\./, view()],
    [
      /PREQUAL is under way after one attempt: waiting 3 s/,
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
    [/consent of 2A to share INVESTOR-1 with EU999.*silence means no/, view({ stages: done, shares: [share] })],
    [/further shares and repeats are taken until/, view({ stages: done, openUntil: SINCE })],
    [/A person must decide about PREQUAL \(NotEntitled\)/, view({ holds: [hold('NotEntitled')] })],
    [/decision is being recorded/, view({ holds: [hold('NotEntitled', { isDecided: true })] })],
    [/was cancelled/, view({ isCancelled: true })],
    [/It has completed/, view({ status: { ...status, state: 'completed' } })],
  ];
  for (const [expected, of] of sentences) assert.match(currentDetails(of).split('\n')[0] ?? '', expected);
});

test('what callers have chosen cannot become Markdown, and a reference is only recognisable', () => {
  const details = currentDetails(
    view({
      stages: [{ productCode: 'PREQUAL', state: 'record', attempts: 1, reportReferenceNumber: 'RPT-SECRET-4F2A' }],
      shares: [{ shareId: 'S1', state: 'posting', waitingFor: [], sharedWith: '<b>[x](http://x)|`y`' }],
    }),
  );
  assert.ok(details.includes('…4F2A'));
  assert.ok(!details.includes('SECRET'));
  assert.ok(details.includes(String.raw`\<b\>\[x\]\(http://x\)\|\`y\``));
});

test('the text stays short enough for the URL that the UI makes of it', () => {
  const shares = Array.from({ length: 20 }, (_, index) => ({
    shareId: `${'S'.repeat(38)}${index + 10}`,
    state: 'held' as const,
    waitingFor: ['1A', '2A'],
    sharedWith: `${'E'.repeat(16)}, ${'N'.repeat(30)}`,
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
  const holds = shares.map(({ shareId }) => hold('OutcomeUnknown', { productCode: 'SECONDUSE', shareId }));
  const typical = view({ stages, shares: shares.slice(0, 1), holds: [hold('OutcomeUnknown')] });
  const worst = view({ stages, shares, holds });
  for (const [of, limit] of [
    [typical, 6_500],
    [worst, 8_000],
  ] as const) {
    const { length } = encodeURIComponent(currentDetails(of));
    assert.ok(length < limit, `${length}`);
  }
});

test('consents for shares that nobody has requested are named by their shares', () => {
  const { status } = view();
  const shareIds = Array.from({ length: 8 }, (_, index) => `S-${index}`);
  const shown = currentDetails(view({ status: { ...status, earlyConsents: { count: 9, shareIds } } }));
  assert.match(shown, /9 consents are kept for shares that nobody has requested: S-0, .*S-5 and others\./);
  const one = currentDetails(view({ status: { ...status, earlyConsents: { count: 1, shareIds: ['S-TYPO'] } } }));
  assert.match(one, /One consent is kept for shares that nobody has requested: S-TYPO\. /);
});
