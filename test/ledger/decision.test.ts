import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KnownAttempt, KnownInquiry } from '../../src/ledger/claim.ts';
import { type DecisionEffect, type DecisionFacts, decideDecision } from '../../src/ledger/inquiries/rules.ts';
import type { AttemptState } from '../../src/model/inquiry.ts';

type Given = AttemptState | Partial<KnownAttempt>;
type Action = DecisionFacts['action'];
/** An effect as text: its kind, and the attempt that it permits or the time that it waits for. */
type Effect = Exclude<DecisionEffect['kind'], 'resend' | 'tooEarly'> | 'resend 2' | 'tooEarly 5';

const ANSWERED: Given = { state: 'answered', answerKind: 'outcome' };
const DOUBTFUL: Given = { state: 'answered', answerKind: 'unexpectedResponse' };
const IN_FLIGHT: Given = { state: 'sending', answerInMs: 5 };
const LATE: Given = { answeredLate: true };
const RESEND = { decisionId: 'O', action: 'resend', attempt: 1, permitsAttempt: 2 } as const;
const RESENT = { decisions: [RESEND] };

function known(attempts: readonly Given[], change: Partial<KnownInquiry> = {}): KnownInquiry {
  const toAttempt = (given: Given, index: number): KnownAttempt => ({
    ...{ attempt: index + 1, state: 'unknown', answerInMs: 0 },
    ...(typeof given === 'string' ? { state: given } : given),
  });
  const inquiry = { ledgerId: 'l', oldestWriter: 8, digest: 'd', abandoned: false, decisions: [] };
  return { ...inquiry, attempts: attempts.map(toAttempt), ...change };
}

function decide(inquiry: KnownInquiry, action: Action, change: Partial<DecisionFacts> = {}): string {
  const effect = decideDecision(inquiry, { decisionId: 'D', attempt: 1, action, ...change });
  if (effect.kind === 'resend') return `resend ${effect.attempt}`;
  return effect.kind === 'tooEarly' ? `tooEarly ${effect.resendInMs}` : effect.kind;
}

const ACTIONS = ['resend', 'accept', 'amend', 'abandon'] as const;
const NONE = ['overtaken', 'overtaken', 'overtaken', 'overtaken'] as const;

/** The known inquiry, and the effect of each action about attempt 1, in the order of `ACTIONS`. */
const ABOUT_THE_FIRST: Record<string, [KnownInquiry, readonly [Effect, Effect, Effect, Effect]]> = {
  'was never claimed': [known([]), ['keep', 'overtaken', 'keep', 'abandon']],
  'has an unknown outcome': [known(['unknown']), ['resend 2', 'accept', 'keep', 'abandon']],
  'may still arrive': [known([{ resendInMs: 5 }]), ['tooEarly 5', 'accept', 'keep', 'abandon']],
  'is overdue': [known(['sending']), ['resend 2', 'accept', 'keep', 'abandon']],
  'is in flight': [known([IN_FLIGHT]), NONE],
  'was answered': [known([ANSWERED]), NONE],
  'has a doubtful answer': [known([DOUBTFUL]), ['overtaken', 'accept', 'keep', 'abandon']],
  'was accepted': [known(['accepted']), NONE],
  'was not sent': [known(['notSent']), ['resend 2', 'overtaken', 'keep', 'abandon']],
  'was refused': [known(['refused']), ['resend 2', 'overtaken', 'keep', 'abandon']],
  'was not entitled': [known(['notEntitled']), ['resend 2', 'overtaken', 'keep', 'abandon']],
  'was refused by a gateway that has the request': [
    known([{ state: 'notEntitled', resendInMs: 5 }]),
    ['resend 2', 'overtaken', 'keep', 'abandon'],
  ],
  'was abandoned': [known(['unknown'], { abandoned: true }), NONE],
  'was abandoned before any claim': [known([], { abandoned: true }), NONE],
  'was disposed of': [known(['unknown'], { disposal: 'done' }), NONE],
  'is followed by another one': [known(['refused', 'unknown']), NONE],
  'has an unspent resend': [known(['unknown'], RESENT), ['overtaken', 'accept', 'keep', 'abandon']],
  'has a spent resend': [known(['unknown', 'unknown'], RESENT), NONE],
  'was answered late, after one that was not sent': [
    known([LATE, 'notSent'], RESENT),
    ['overtaken', 'accept', 'overtaken', 'abandon'],
  ],
};

const SAME_ID = { decisions: [{ ...RESEND, decisionId: 'D' }] };
type Row = [title: string, KnownInquiry, Action | readonly Action[], Partial<DecisionFacts>, Effect];
const ENDING = ['amend', 'abandon'] as const;
const SECOND = { attempt: 2 };
const CREDENTIALS = { failureType: 'CredentialsRefused' } as const;
const CHANGED_PROFILE = { attempt: 2, failureType: 'ProfileChanged' } as const;
const OTHER_LEDGER = { failureType: 'LedgerChanged' } as const;

/** Decisions whose effect depends on their id, attempt or reason. */
const TABLE: Row[] = [
  [
    'the decision ignores the late answer to an earlier attempt',
    known([LATE, 'notSent'], RESENT),
    ACTIONS,
    { attempt: 2 },
    'overtaken',
  ],
  ['an earlier attempt was answered late', known([LATE, 'unknown'], RESENT), 'accept', { attempt: 2 }, 'accept'],
  [
    'the same decision is repeated, as after a reset',
    known(['unknown', 'answered'], SAME_ID),
    'resend',
    {},
    'repeated',
  ],
  ['its id was used for another action', known(['unknown'], SAME_ID), 'abandon', {}, 'overtaken'],
  ['its id was used for another attempt', known(['unknown', 'unknown'], SAME_ID), 'resend', SECOND, 'overtaken'],
  ['the decision precedes the second claim', known(['notSent']), ['resend', 'amend'], SECOND, 'keep'],
  [
    'the claim had succeeded although the ledger seemed unavailable',
    known(['unknown']),
    'resend',
    { failureType: 'LedgerUnavailable' },
    'keep',
  ],
  ...(['unknown', 'refused', 'notEntitled', 'untrusted'] as const).map(
    (state): Row => [`an earlier run’s attempt is ${state}`, known([state]), 'resend', CREDENTIALS, 'keep'],
  ),
  ['the credentials were refused', known(['credentialsRefused']), 'resend', CREDENTIALS, 'resend 2'],
  [
    'the attempt is meanwhile known as not sent',
    known(['notSent']),
    'resend',
    { failureType: 'OutcomeUnknown' },
    'resend 2',
  ],
  ['the return code was unknown', known([DOUBTFUL]), 'amend', { failureType: 'ReturnCodeUnknown' }, 'keep'],
  ['another request has an outcome', known([ANSWERED]), ENDING, { failureType: 'RequestDiffers' }, 'keep'],
  ...(['InvalidInput', 'CredentialsRefused', 'ProfileChanged'] as const).flatMap((failureType): Row[] => [
    [`its hold is ${failureType} and the outcome is unknown`, known(['unknown']), ENDING, { failureType }, 'overtaken'],
    [
      `its hold is ${failureType} and follows an unknown outcome`,
      known(['unknown']),
      ENDING,
      { attempt: 2, failureType },
      'overtaken',
    ],
    [
      `its hold is ${failureType} and follows a gap`,
      known(['notSent']),
      ENDING,
      { attempt: 3, failureType },
      'overtaken',
    ],
  ]),
  ['the input is invalid and nothing was sent', known(['notSent']), 'amend', { failureType: 'InvalidInput' }, 'keep'],
  [
    'a resend was decided about the previous attempt',
    known(['unknown'], RESENT),
    'abandon',
    CHANGED_PROFILE,
    'abandon',
  ],
  ['the previous attempt is undecided', known(['unknown']), 'resend', SECOND, 'overtaken'],
  ['the ledger was replaced and has a gap', known(['unknown']), 'abandon', { attempt: 3, ...OTHER_LEDGER }, 'abandon'],
  ['the right ledger is back', known(['unknown']), 'abandon', OTHER_LEDGER, 'overtaken'],
  ['nothing was claimed yet', known([]), 'repeat', { attempt: 0 }, 'keep'],
  ['the repeat was already claimed under another decision id', known(['unknown']), 'repeat', { attempt: 0 }, 'keep'],
  ['the inquiry was disposed of', known([], { disposal: 'done' }), 'repeat', { attempt: 0 }, 'overtaken'],
];

describe('the decision table', () => {
  for (const [title, [inquiry, expected]] of Object.entries(ABOUT_THE_FIRST)) {
    test(`decides ${ACTIONS.join(', ')} as ${expected.join(', ')} for an attempt that ${title}`, () => {
      const effects = ACTIONS.map((action) => decide(inquiry, action));
      assert.deepEqual(effects, expected);
    });
  }

  for (const [title, inquiry, actions, change, expected] of TABLE) {
    test(`decides ${[actions].flat().join(', ')} as ${expected} when ${title}`, () => {
      for (const action of [actions].flat()) assert.equal(decide(inquiry, action, change), expected, action);
    });
  }
});
