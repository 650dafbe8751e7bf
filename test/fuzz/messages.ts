/** JSON that may come as a message, or as the input of a run: what workflow code takes, what zod takes, and what falls over. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseDurationMs, parseInstantMs } from '../../src/base/instants.ts';
import type { ConsentRecord } from '../../src/consent/consent-record.ts';
import { judgeShare } from '../../src/consent/standing.ts';
import { MESSAGES } from '../../src/messages/all-messages.ts';
import { parseMessage } from '../../src/messages/inputs/parse-message.ts';
import type { Message } from '../../src/messages/message.ts';
import { checkOpaqueId, mayHoldSsn } from '../../src/model/opaque-id.ts';
import { InvalidInputError } from '../../src/model/problems.ts';
import { Journey } from '../../src/workflows/journey/journey.ts';
import { aConsent, aDecision, aJourney, anApplicant } from '../validation/sample-messages.ts';
import { openFiles } from './files.ts';
import { changedValue, treeMutations } from './mutations.ts';
import { type OpenTarget, property } from './property.ts';
import { assertNothingPersonal } from './sentinel.ts';
import { hostileText, hostileValue } from './values.ts';

const LIMIT = { maxApplicants: 4 };

const REFERENCE = {
  reportReferenceNumber: 'RRN-1',
  requestedAt: '2026-01-01T00:00:00Z',
  applicants: [
    { applicantId: '1A', consumerId: 'C1' },
    { applicantId: '2A', consumerId: 'C2' },
  ],
};

const REPEATED = { ...REFERENCE, applicants: REFERENCE.applicants.map((one) => ({ ...one, consumerId: 'C1' })) };

const SHARE = {
  shareId: 'S1',
  endUserCode: 'EU456',
  endUser: 'Second Lender',
  permissiblePurposeCode: '02',
  reportOf: 'PREAPP',
  awaitConsentFor: 'P30D',
  consentValidFor: 'PT12H',
};

interface MessageKind {
  name: string;
  valid: readonly object[];
  message: Message;
}

const KINDS: readonly MessageKind[] = [
  {
    name: 'consent',
    valid: [
      aConsent(),
      aConsent({ decision: 'revoked', proof: 'eyJh.eyJi.c2ln' }),
      aConsent({ secondaryUser: { endUser: 'Second Lender' } }),
    ],
    message: MESSAGES.consent,
  },
  {
    name: 'advance',
    valid: [
      { journeyId: 'J-1001', to: 'PREAPP' },
      { journeyId: 'J-1001', to: 'PRECLOSE', applicants: [anApplicant('1A'), anApplicant('2A')] },
      { journeyId: 'J-1001', to: 'PREAPP', acceptAge: true, by: 'ops', reason: 'it will do' },
      { journeyId: 'J-1001', to: 'PRECLOSE', skip: 'PREAPP', by: 'ops', reason: 'one will do' },
      { journeyId: 'J-1001', repeat: 'PRECLOSE', occurrence: 2, by: 'ops', reason: 'the closing was put off' },
    ],
    message: MESSAGES.advance,
  },
  {
    name: 'extend',
    valid: [
      { journeyId: 'J-1001', gate: 'PREAPP', until: '2026-01-02T03:04:05Z', by: 'ops', reason: 'late' },
      { journeyId: 'J-1001', shareId: 'S1', until: '2026-01-02T03:04:05Z', by: 'ops', reason: 'late' },
    ],
    message: MESSAGES.extend,
  },
  {
    name: 'requestShare',
    valid: [{ journeyId: 'J-1001', share: SHARE }],
    message: MESSAGES.requestShare,
  },
  {
    name: 'withdrawShare',
    valid: [{ journeyId: 'J-1001', shareId: 'S9', by: 'ops', reason: 'another investor was meant' }],
    message: MESSAGES.withdrawShare,
  },
  {
    name: 'resolveInquiry',
    valid: [
      aDecision(),
      aDecision({ action: 'accept', outcome: 'record', reference: REFERENCE }),
      aDecision({ action: 'accept', outcome: 'noRecord' }),
      aDecision({ action: 'amend', applicants: [anApplicant()] }),
      // Refused as they stand, each for one thing.
      aDecision({ action: 'accept', outcome: 'noRecord', reference: REFERENCE }),
      aDecision({ action: 'amend', applicants: [anApplicant()], outcome: 'record' }),
      aDecision({ action: 'accept', outcome: 'record', reference: REPEATED }),
    ],
    message: MESSAGES.resolveInquiry,
  },
  {
    name: 'withdraw',
    valid: [{ journeyId: 'J-1001', by: 'Operator One', reason: 'the customer changed their mind' }],
    message: MESSAGES.withdrawJourney,
  },
];

const KEYS = [
  ...[
    'journeyId',
    'shareId',
    'applicantId',
    'consentId',
    'decision',
    'decidedAt',
    'secondaryUser',
    'evidence',
    'proof',
  ],
  ...[
    'applicants',
    'share',
    'endUser',
    'endUserCode',
    'outcome',
    'reference',
    'attempt',
    'action',
    'undecodable',
    'reason',
  ],
] as const;

const changedMessage = fc.record({
  kind: fc.nat({ max: KINDS.length - 1 }),
  variant: fc.nat({ max: 6 }),
  tree: treeMutations(KEYS),
});

type ChangedMessage = typeof changedMessage extends fc.Arbitrary<infer T> ? T : never;

function messageOf({ kind, variant, tree }: ChangedMessage): { kind: MessageKind; message: unknown } {
  const found = KINDS[kind];
  assert.ok(found);
  return { kind: found, message: changedValue(found.valid[variant % found.valid.length], tree) };
}

function problemsOf(kind: MessageKind, message: unknown): InvalidInputError | null {
  try {
    parseMessage(kind.message, message, LIMIT);
    return null;
  } catch (error) {
    assert.ok(error instanceof InvalidInputError, `not InvalidInputError: ${error}`);
    assertNothingPersonal(error.message, 'a problem');
    return error;
  }
}

/** What the workflow's validators leave to an activity, which holds applicants against the interface's table. */
const APPLICANTS = /^\/applicants(?:\/|$)/;

const agreement = property({
  name: 'message-checks',
  weight: 6,
  cases: changedMessage,
  show: (value) => ({ message: messageOf(value).kind.name, value: messageOf(value).message }),
  check: (value) => {
    const { kind, message } = messageOf(value);
    const shape = kind.message.findProblem(message);
    if (shape !== null) assertNothingPersonal(shape, 'a reason');
    const refused = problemsOf(kind, message);
    if (refused === null) assert.equal(shape, null, `${kind.name}: zod takes what the workflow refuses`);
    if (shape !== null || refused === null) return;
    const left = refused.problems.filter(({ path }) => !APPLICANTS.test(path));
    assert.deepEqual(left, [], `${kind.name}: the workflow takes what zod refuses`);
  },
});

const JOURNEY = aJourney({
  shares: [SHARE, { ...SHARE, shareId: 'S2', reportOf: 'PREQUAL' }],
  gates: { PREAPP: { pass: 'auto' }, PRECLOSE: { expiresAfter: 'P3D' } },
  stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'],
});

const journeys = property({
  name: 'journey-inputs',
  weight: 2,
  cases: fc.oneof(
    treeMutations(['shares', 'stages', 'gates', 'applicants', 'shareId', 'reportOf', 'length', 'undecodable'], 6).map(
      (tree) => changedValue(JOURNEY, tree),
    ),
    hostileValue,
  ),
  check: (input) => {
    const journey = new Journey(input as never);
    journey.status();
    journey.references();
    journey.config = { environment: 'sandbox' } as never;
    journey.result('completed');
    for (const stage of ['PREQUAL', 'PREAPP', 'PRECLOSE'] as const) journey.findGateBefore(stage);
    for (const share of journey.shares.values()) journey.listApplicants(share);
    journey.consents.take({ ...(aConsent() as object), receivedAt: new Date().toISOString() } as never, true);
    assert.equal(Object.hasOwn(Object.prototype, 'shareId'), false);
  },
});

const saidStep = fc.record({
  shareId: fc.constantFrom('S1', '__proto__'),
  applicantId: fc.constantFrom('1A', '2A', 'constructor'),
  consentId: fc.constantFrom('C1', 'C2', 'C3'),
  decision: fc.constantFrom('granted' as const, 'granted' as const, 'denied' as const, 'revoked' as const),
  minute: fc.nat({ max: 5 }),
});

/** A grant stands only if it was given for the share, and no later denial and no revocation of its own id was. */
const standings = property({
  name: 'consent-standings',
  weight: 2,
  cases: fc.array(saidStep, { maxLength: 12 }),
  check: (steps) => {
    const said = steps.map(({ minute, ...parts }) => ({
      ...aConsent(),
      ...parts,
      decidedAt: `2026-01-01T00:0${minute}:00Z`,
      receivedAt: '2026-01-01T01:00:00Z',
    })) as ConsentRecord[];
    const owners = [...new Set(said.map(({ journeyId }) => journeyId))];
    const stored = said.map((consent) => ({ consent }));
    for (const shareId of ['S1', '__proto__']) {
      const terms = { shareId, owners, endUserCode: 'EU999', consentTrust: 'namespace' as const };
      for (const one of judgeShare(stored, terms, Date.UTC(2026, 0, 2)).applicants) {
        if (one.stands !== 'granted') continue;
        const ofShare = said.filter((other) => other.shareId === shareId && other.applicantId === one.applicantId);
        const isGrant = ({ decision, consentId }: ConsentRecord) =>
          decision === 'granted' && consentId === one.grant.consentId;
        assert.ok(ofShare.some(isGrant), 'a grant that nobody gave');
        const isAgainst = ({ decision, consentId, decidedAt }: ConsentRecord) =>
          (decision === 'revoked' && consentId === one.grant.consentId) ||
          (decision === 'denied' && decidedAt > one.since);
        assert.ok(!ofShare.some(isAgainst), 'a grant that was taken back');
      }
    }
  },
});

const words = property({
  name: 'instants-durations-ids',
  weight: 1,
  cases: fc.oneof(
    hostileText,
    fc.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/),
    fc.stringMatching(/^P(\d{1,6}D)?(T(\d{1,6}H)?(\d{1,7}M)?(\d{1,8}S)?)?$/),
    fc.stringMatching(/^[0-9a-f-]{9,40}$/),
  ),
  check: (text) => {
    const ms = parseInstantMs(text);
    if (ms !== null) {
      assert.ok(Number.isSafeInteger(ms) && Math.abs(ms) <= 8.64e15);
      assert.ok(
        text.startsWith(new Date(ms).toISOString().slice(0, 2)) || /[+-]/.test(text.slice(19)),
        'another century',
      );
    }
    const duration = parseDurationMs(text);
    if (duration !== null) assert.ok(Number.isSafeInteger(duration) && duration > 0);
    if (checkOpaqueId(text, 64) === null) assert.ok(!mayHoldSsn(text) && !text.includes('@') && text.length <= 64);
  },
});

export async function openMessages(): Promise<OpenTarget> {
  const files = openFiles();
  return { ...files, properties: [agreement, journeys, standings, words, ...files.properties] };
}
