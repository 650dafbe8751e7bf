import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KnownAttempt, KnownInquiry } from '../../src/ledger/claim.ts';
import { type DecisionEffect, type DecisionFacts, decideDecision } from '../../src/ledger/inquiries/rules.ts';
import type { AttemptState } from '../../src/model/inquiry.ts';

function known(attempts: (AttemptState | Partial<KnownAttempt>)[], change: Partial<KnownInquiry> = {}): KnownInquiry {
  return {
    ledgerId: 'l',
    oldestWriter: 8,
    digest: 'd',
    abandoned: false,
    decisions: [],
    attempts: attempts.map((given, index) => ({
      attempt: index + 1,
      state: 'unknown' as AttemptState,
      answerInMs: 0,
      ...(typeof given === 'string' ? { state: given } : given),
    })),
    ...change,
  };
}

function decision(action: DecisionFacts['action'], change: Partial<DecisionFacts> = {}): DecisionFacts {
  return { decisionId: 'D', attempt: 1, action, ...change };
}

const ANSWERED: Partial<KnownAttempt> = { state: 'answered', answerKind: 'outcome' };
const DOUBTFUL: Partial<KnownAttempt> = { state: 'answered', answerKind: 'unexpectedResponse' };
const IN_FLIGHT: Partial<KnownAttempt> = { state: 'sending', answerInMs: 5 };
const OTHER_RESEND = { decisionId: 'O', action: 'resend', attempt: 1, permitsAttempt: 2 } as const;

type Row = [title: string, known: KnownInquiry, decision: DecisionFacts, expected: DecisionEffect];

const KEEP: DecisionEffect = { kind: 'keep' };
const OVERTAKEN: DecisionEffect = { kind: 'overtaken' };

const TABLE: Row[] = [
  ['resend of an unknown outcome', known(['unknown']), decision('resend'), { kind: 'permit', attempt: 2 }],
  ...(['accept', 'abandon'] as const).map(
    (action): Row => [
      `${action} of an attempt that was answered late, after one that was not sent`,
      known([{ answeredLate: true }, 'notSent'], { decisions: [OTHER_RESEND] }),
      decision(action),
      { kind: action },
    ],
  ),
  ...(['resend', 'amend'] as const).map(
    (action): Row => [
      `${action} of an attempt that was answered late, after one that was not sent`,
      known([{ answeredLate: true }, 'notSent'], { decisions: [OTHER_RESEND] }),
      decision(action),
      OVERTAKEN,
    ],
  ),
  ...(['resend', 'accept', 'amend', 'abandon'] as const).map(
    (action): Row => [
      `${action} that passes over an attempt that was answered late`,
      known([{ answeredLate: true }, 'notSent'], { decisions: [OTHER_RESEND] }),
      decision(action, { attempt: 2, failureType: 'GatewayUnreachable' }),
      OVERTAKEN,
    ],
  ),
  [
    'accept of an unknown outcome after which an earlier attempt was answered late',
    known([{ answeredLate: true }, 'unknown'], { decisions: [OTHER_RESEND] }),
    decision('accept', { attempt: 2 }),
    { kind: 'accept' },
  ],
  [
    'resend of an unknown outcome whose request may still arrive',
    known([{ state: 'unknown', resendInMs: 5 }]),
    decision('resend'),
    { kind: 'tooEarly', resendInMs: 5 },
  ],
  [
    'accept of an unknown outcome whose request may still arrive',
    known([{ state: 'unknown', resendInMs: 5 }]),
    decision('accept'),
    { kind: 'accept' },
  ],
  [
    'resend of a refusal by a gateway that has the request',
    known([{ state: 'notEntitled', resendInMs: 5 }]),
    decision('resend'),
    { kind: 'permit', attempt: 2 },
  ],
  ['resend of an overdue attempt', known(['sending']), decision('resend'), { kind: 'permit', attempt: 2 }],
  ['resend of a refusal', known(['notEntitled']), decision('resend'), { kind: 'permit', attempt: 2 }],
  ['resend after retries ran out', known(['notSent']), decision('resend'), { kind: 'permit', attempt: 2 }],
  ['resend of an attempt in flight', known([IN_FLIGHT]), decision('resend'), OVERTAKEN],
  ['resend after an answer', known([ANSWERED]), decision('resend'), OVERTAKEN],
  ['resend of a doubtful answer', known([DOUBTFUL]), decision('resend'), OVERTAKEN],
  ['resend after accept', known(['accepted']), decision('resend'), OVERTAKEN],
  ['resend after abandon', known(['unknown'], { abandoned: true }), decision('resend'), OVERTAKEN],
  ...(['resend', 'accept', 'amend', 'abandon'] as const).map(
    (action): Row => [
      `${action} after it was disposed of`,
      known(['unknown'], { disposal: 'done' }),
      decision(action),
      OVERTAKEN,
    ],
  ),
  ['a second resend, unspent', known(['unknown'], { decisions: [OTHER_RESEND] }), decision('resend'), OVERTAKEN],
  [
    'a second resend, spent',
    known(['unknown', 'unknown'], { decisions: [OTHER_RESEND] }),
    decision('resend'),
    OVERTAKEN,
  ],
  [
    'the same resend again, as after a reset',
    known(['unknown', 'answered'], { decisions: [{ ...OTHER_RESEND, decisionId: 'D' }] }),
    decision('resend'),
    { kind: 'repeated' },
  ],
  [
    'the same id for another action',
    known(['unknown'], { decisions: [{ ...OTHER_RESEND, decisionId: 'D' }] }),
    decision('abandon'),
    OVERTAKEN,
  ],
  [
    'the same id for another attempt',
    known(['unknown', 'unknown'], { decisions: [{ ...OTHER_RESEND, decisionId: 'D' }] }),
    decision('resend', { attempt: 2 }),
    OVERTAKEN,
  ],
  ['resend of what was never claimed', known([]), decision('resend'), KEEP],
  ['resend before the second claim', known(['notSent']), decision('resend', { attempt: 2 }), KEEP],
  [
    'resend for a reason that claims nothing, though the claim was made after all',
    known(['unknown']),
    decision('resend', { failureType: 'LedgerUnavailable' }),
    KEEP,
  ],
  ...(['unknown', 'refused', 'notEntitled', 'untrusted'] as const).map(
    (state): Row => [
      `resend of refused credentials, where an earlier run’s attempt stands as ${state}`,
      known([state]),
      decision('resend', { failureType: 'CredentialsRefused' }),
      KEEP,
    ],
  ),
  [
    'resend of an attempt whose credentials were refused',
    known(['credentialsRefused']),
    decision('resend', { failureType: 'CredentialsRefused' }),
    { kind: 'permit', attempt: 2 },
  ],
  [
    'resend of an unknown outcome of which it is known by now that nothing was sent',
    known(['notSent']),
    decision('resend', { failureType: 'OutcomeUnknown' }),
    { kind: 'permit', attempt: 2 },
  ],
  ['accept of an unknown outcome', known(['unknown']), decision('accept'), { kind: 'accept' }],
  ['accept of a doubtful answer', known([DOUBTFUL]), decision('accept'), { kind: 'accept' }],
  ['accept of an overdue attempt', known(['sending']), decision('accept'), { kind: 'accept' }],
  ['accept of an attempt in flight', known([IN_FLIGHT]), decision('accept'), OVERTAKEN],
  ['accept after an answer', known([ANSWERED]), decision('accept'), OVERTAKEN],
  ['accept after accept', known(['accepted']), decision('accept'), OVERTAKEN],
  ['accept of a refusal', known(['refused']), decision('accept'), OVERTAKEN],
  ['accept of an attempt that was not made', known([]), decision('accept'), OVERTAKEN],
  ['accept of an earlier attempt', known(['unknown', 'unknown']), decision('accept'), OVERTAKEN],
  ['abandon of an unknown outcome', known(['unknown']), decision('abandon'), { kind: 'abandon' }],
  ['abandon of a doubtful answer', known([DOUBTFUL]), decision('abandon'), { kind: 'abandon' }],
  ['abandon before any claim', known([]), decision('abandon'), { kind: 'abandon' }],
  ['abandon after an answer', known([ANSWERED]), decision('abandon'), OVERTAKEN],
  ['abandon of an attempt in flight', known([IN_FLIGHT]), decision('abandon'), OVERTAKEN],
  ['abandon of an earlier attempt', known(['unknown', 'unknown']), decision('abandon'), OVERTAKEN],
  ['abandon twice', known([], { abandoned: true }), decision('abandon'), OVERTAKEN],
  [
    'abandon of a request that differs, whatever came of the one that is there',
    known([ANSWERED]),
    decision('abandon', { failureType: 'RequestDiffers' }),
    KEEP,
  ],
  ['amend', known(['refused']), decision('amend'), KEEP],
  ['amend of a doubtful answer', known([DOUBTFUL]), decision('amend', { failureType: 'ReturnCodeUnknown' }), KEEP],
  ['amend before any claim', known([]), decision('amend', { failureType: 'InvalidInput' }), KEEP],
  [
    'amend after what was not sent',
    known(['notSent']),
    decision('amend', { attempt: 2, failureType: 'InvalidInput' }),
    KEEP,
  ],
  [
    'amend of input, of which nothing was sent',
    known(['notSent']),
    decision('amend', { failureType: 'InvalidInput' }),
    KEEP,
  ],
  ['amend of an attempt in flight', known([IN_FLIGHT]), decision('amend'), OVERTAKEN],
  ['amend after an answer', known([ANSWERED]), decision('amend'), OVERTAKEN],
  ['amend after abandon', known(['refused'], { abandoned: true }), decision('amend'), OVERTAKEN],
  ['amend of an earlier attempt', known(['refused', 'unknown']), decision('amend'), OVERTAKEN],
  ['amend of a request that differs', known([ANSWERED]), decision('amend', { failureType: 'RequestDiffers' }), KEEP],
  ...(['amend', 'abandon'] as const).flatMap((action): Row[] =>
    (['InvalidInput', 'CredentialsRefused', 'ProfileChanged'] as const).flatMap((failureType): Row[] => [
      [
        `${action} for ${failureType}, where an attempt of unknown outcome stands in its place`,
        known(['unknown']),
        decision(action, { failureType }),
        OVERTAKEN,
      ],
      [
        `${action} for ${failureType} of the attempt after one that nobody has judged`,
        known(['unknown']),
        decision(action, { attempt: 2, failureType }),
        OVERTAKEN,
      ],
      [
        `${action} for ${failureType} over a gap`,
        known(['notSent']),
        decision(action, { attempt: 3, failureType }),
        OVERTAKEN,
      ],
    ]),
  ),
  [
    'abandon for ProfileChanged of the attempt after one that was judged by a resend',
    known(['unknown'], { decisions: [OTHER_RESEND] }),
    decision('abandon', { attempt: 2, failureType: 'ProfileChanged' }),
    { kind: 'abandon' },
  ],
  [
    'resend of the attempt after one that nobody has judged',
    known(['unknown']),
    decision('resend', { attempt: 2 }),
    OVERTAKEN,
  ],
  [
    'abandon for LedgerChanged over a gap, which the person was told of',
    known(['unknown']),
    decision('abandon', { attempt: 3, failureType: 'LedgerChanged' }),
    { kind: 'abandon' },
  ],
  [
    'abandon for LedgerChanged, where the right ledger is back and has the attempt',
    known(['unknown']),
    decision('abandon', { failureType: 'LedgerChanged' }),
    OVERTAKEN,
  ],
  ['repeat before any claim', known([]), decision('repeat', { attempt: 0 }), KEEP],
  [
    'repeat again under another id, whatever came of the first',
    known(['unknown']),
    decision('repeat', { attempt: 0 }),
    KEEP,
  ],
  ['repeat after it was disposed of', known([], { disposal: 'done' }), decision('repeat', { attempt: 0 }), OVERTAKEN],
];

describe('decisions', () => {
  for (const [title, state, facts, expected] of TABLE) {
    test(`${title}: ${expected.kind}`, () => assert.deepEqual(decideDecision(state, facts), expected));
  }
});
