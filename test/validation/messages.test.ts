/** Tests the paths in refusals of messages. published-schemas.test.ts tests accepted messages with every member. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MESSAGES } from '../../src/messages/all-messages.ts';
import { INPUTS } from '../../src/messages/inputs/all-inputs.ts';
import { parseApplicants, parseMessage } from '../../src/messages/inputs/parse-message.ts';
import type { Checked } from '../../src/messages/message.ts';
import { InvalidInputError, type Problem } from '../../src/model/problems.ts';
import { aConsent, aDecision, aJourney, anApplicant } from './sample-messages.ts';

function findProblems(parse: () => unknown): readonly Problem[] {
  try {
    parse();
  } catch (error) {
    assert.ok(error instanceof InvalidInputError, String(error));
    return error.problems;
  }
  return [];
}

const listPaths = (parse: () => unknown) => findProblems(parse).map(({ path }) => path);

type Case = [what: string, message: unknown, paths: string[]];

function testRefusals(definition: Checked, cases: readonly Case[]): void {
  for (const [what, message, paths] of cases) {
    it(`is refused for ${what}`, () =>
      assert.deepEqual(
        listPaths(() => parseMessage(definition, message)),
        paths,
      ));
  }
}

const SHARE = { shareId: 'S1', permissiblePurposeCode: '05' };

describe('lendingJourney input', () => {
  it('is accepted with only the required fields', () => {
    const input = aJourney();
    assert.deepEqual(parseMessage(INPUTS.lendingJourney, input), input);
  });

  const cases: [string, Record<string, unknown>, string[]][] = [
    ['a missing id', { journeyId: undefined }, ['/journeyId']],
    ['null in place of an optional field', { onNoRecord: null }, ['/onNoRecord']],
    ['an unknown field', { surprise: 1 }, ['']],
    ['an unknown field deep inside', { gates: { PREAPP: { surprise: 1 } } }, ['/gates/PREAPP']],
    ['stages out of order', { stages: ['PREAPP', 'PREQUAL', 'PRECLOSE'] }, ['/stages/1']],
    ['a repeated stage', { stages: ['PREQUAL', 'PREAPP', 'PREAPP', 'PRECLOSE'] }, ['/stages/2']],
    ['no stage', { stages: [] }, ['/stages']],
    ['an unknown stage', { stages: ['PREQUAL', 'CR'] }, ['/stages/1']],
    ['a gate of a stage that is left out', { stages: ['PREQUAL'], gates: { PREAPP: {} } }, ['/gates/PREAPP']],
    ['a gate before the first stage', { gates: { PREQUAL: {} } }, ['/gates']],
    [
      'a missing purpose code',
      { permissiblePurposeCodes: { PREQUAL: '01' } },
      ['/permissiblePurposeCodes/PREAPP', '/permissiblePurposeCodes/PRECLOSE'],
    ],
    [
      'a share without any purpose code',
      { shares: [{ shareId: 'S1', endUser: 'B' }] },
      ['/permissiblePurposeCodes/SECONDUSE'],
    ],
    ['a share without a secondary user', { shares: [SHARE] }, ['/shares/0/endUserCode']],
    [
      'a share with the journey’s own end user',
      { shares: [{ ...SHARE, endUserCode: 'EU123' }] },
      ['/shares/0/endUserCode'],
    ],
    [
      'two shares of one id',
      { shares: ['X', 'Y'].map((endUserCode) => ({ ...SHARE, endUserCode })) },
      ['/shares/1/shareId'],
    ],
    [
      'a share of a stage that is left out',
      { stages: ['PREQUAL'], shares: [{ ...SHARE, endUserCode: 'X', reportOf: 'PREAPP' }] },
      ['/shares/0/reportOf'],
    ],
    ['a duration in months', { sharesOpenFor: 'P1M' }, ['/sharesOpenFor']],
    ['a zero duration', { sharesOpenFor: 'PT0S' }, ['/sharesOpenFor']],
    ['an excessive duration', { sharesOpenFor: 'P99999D' }, ['/sharesOpenFor']],
    ['no applicants', { applicants: [] }, ['/applicants']],
    ['an SSN of eight digits', { applicants: [{ ...anApplicant(), ssn: '90012345' }] }, ['/applicants/0/ssn']],
  ];
  testRefusals(
    INPUTS.lendingJourney,
    cases.map(([what, change, paths]) => [what, { ...aJourney(), ...change }, paths]),
  );
  testRefusals(
    INPUTS.lendingJourney,
    [undefined, null, 'text', 7, [], true].map((value) => [`being ${JSON.stringify(value)}`, value, ['']]),
  );

  it('is refused for more applicants than the profile allows', () => {
    const applicants = [anApplicant(), anApplicant('2A'), anApplicant('3A')];
    const parse = (maxApplicants: number) =>
      parseMessage(INPUTS.lendingJourney, aJourney({ applicants }), { maxApplicants });
    assert.deepEqual([listPaths(() => parse(2)), listPaths(() => parse(3))], [['/applicants'], []]);
  });

  it('is refused with all problems at once, within and between fields', () => {
    const input = {
      ...{ journeyId: '', stages: ['PRECLOSE', 'PREQUAL'], permissiblePurposeCodes: {} },
      ...{ applicants: [null], shares: [{}] },
    };
    assert.deepEqual(listPaths(() => parseMessage(INPUTS.lendingJourney, input)).toSorted(), [
      '/applicants/0',
      '/endUserCode',
      '/journeyId',
      ...['PRECLOSE', 'PREQUAL', 'SECONDUSE'].map((product) => `/permissiblePurposeCodes/${product}`),
      '/shares/0/endUserCode',
      '/shares/0/shareId',
      '/stages/1',
    ]);
  });

  it('is refused without quoting its content', () => {
    const sentinel = 'Zebedee912345678';
    const input = {
      [sentinel]: sentinel,
      journeyId: `${sentinel}@example.com`,
      permissiblePurposeCodes: { [sentinel]: sentinel },
      applicants: [{ ...anApplicant(), ssn: sentinel, emailAddress: sentinel, [sentinel]: 1 }],
      stages: [sentinel],
      shares: [{ shareId: sentinel, endUser: sentinel.repeat(9) }],
    };
    const problems = findProblems(() => parseMessage(INPUTS.lendingJourney, input));
    assert.ok(problems.length > 6);
    assert.ok(!JSON.stringify(problems).includes('Zebedee'));
    assert.ok(!new InvalidInputError(problems).message.includes('Zebedee'));
  });

  it('is returned in a normal form that is accepted unchanged', () => {
    const applicant = anApplicant();
    const input = aJourney({
      applicants: [{ ...applicant, addresses: [{ ...applicant.addresses[0], zip: '62701-1234', state: 'il' }] }],
    });
    const once = parseMessage(INPUTS.lendingJourney, input);
    assert.equal(once.applicants[0]?.addresses[0]?.zip4, '1234');
    assert.deepEqual(parseMessage(INPUTS.lendingJourney, once), once);
  });
});

describe('consent', () => {
  it('is accepted as a denial or revocation without evidence', () => {
    for (const decision of ['denied', 'revoked']) {
      const { evidence: _, ...message } = aConsent({ decision });
      assert.deepEqual(parseMessage(MESSAGES.consent, message), message);
    }
  });

  const { evidence, ...withoutEvidence } = aConsent();
  testRefusals(MESSAGES.consent, [
    ['a grant without evidence', withoutEvidence, ['/evidence']],
    ['a missing secondary user', aConsent({ secondaryUser: {} }), ['/secondaryUser/endUserCode']],
    ['an unknown decision', aConsent({ decision: 'maybe' }), ['/decision']],
    ['an instant without an offset', aConsent({ decidedAt: '2026-01-02T03:04:05' }), ['/decidedAt']],
    ['a day that does not exist', aConsent({ decidedAt: '2026-02-30T03:04:05Z' }), ['/decidedAt']],
    ['an applicant id of three characters', aConsent({ applicantId: '1AB' }), ['/applicantId']],
    ['an SSN for an id', aConsent({ consentId: '912-34-5678' }), ['/consentId']],
    [
      'an e-mail address as evidence',
      aConsent({ evidence: { ...evidence, reference: 'a@example.com' } }),
      ['/evidence/reference'],
    ],
  ]);

  it('is refused without a time, with a hint to decidedNow', () => {
    const { decidedAt: _, ...without } = aConsent();
    assert.throws(() => parseMessage(MESSAGES.consent, without), /\/decidedAt is required: .* decidedNow: true/);
  });
});

describe('resolveInquiry', () => {
  const applicants = [{ applicantId: '1A', consumerId: 'C1' }];
  const reference = { reportReferenceNumber: 'R1', requestedAt: '2026-01-02T03:04:05Z', applicants };
  const twins = [...applicants, { applicantId: '2A', consumerId: 'C1' }];
  const record = { action: 'accept', outcome: 'record' };
  const cases: [string, Record<string, unknown>, string[]][] = [
    ['an accept without outcome', { action: 'accept' }, ['/outcome']],
    ['an accepted record without reference', record, ['/reference']],
    [
      'a reference without consumers',
      { ...record, reference: { ...reference, applicants: [] } },
      ['/reference/applicants'],
    ],
    [
      'a reference with one consumer twice',
      { ...record, reference: { ...reference, applicants: twins } },
      ['/reference/applicants/1/consumerId'],
    ],
    ['a reference without a record', { action: 'accept', outcome: 'noRecord', reference }, ['/reference']],
    ['an amend with an empty list', { action: 'amend', applicants: [] }, ['/applicants']],
    ['applicants with a resend', { applicants: [anApplicant()] }, ['/applicants']],
    ['an outcome with a resend', { outcome: 'record' }, ['/outcome']],
    ['an invalid attempt number', { attempt: 0 }, ['/attempt']],
    ['an attempt number in text', { attempt: '1' }, ['/attempt']],
    ['an unknown action', { action: 'retry' }, ['/action']],
    ['a blank reason', { reason: ' ' }, ['/reason']],
    ['a reason that is too long', { reason: 'x'.repeat(501) }, ['/reason']],
    ['a line break in a name', { by: 'a\nb' }, ['/by']],
  ];
  testRefusals(
    MESSAGES.resolveInquiry,
    cases.map(([what, change, paths]) => [what, aDecision(change), paths]),
  );
});

describe('advance', () => {
  const applicants = [{ ...anApplicant(), dob: '2026-02-30' }];
  testRefusals(MESSAGES.advance, [
    [
      'an unknown stage and applicants that the gateway would refuse',
      { journeyId: 'J1', to: 'CR', applicants },
      ['/to', '/applicants/0/dob'],
    ],
  ]);
});

describe('withdraw', () => {
  testRefusals(MESSAGES.withdrawJourney, [['a missing operator and reason', { journeyId: 'J1' }, ['/by', '/reason']]]);
});

describe('requestShare', () => {
  testRefusals(MESSAGES.requestShare, [
    ['a share without a secondary user', { journeyId: 'J1', share: { shareId: 'S1' } }, ['/share/endUserCode']],
  ]);
});

it('problems of a separate list of applicants have paths under /applicants', () => {
  const applicants = [{ ...anApplicant(), ssn: '1' }];
  assert.deepEqual(
    listPaths(() => parseApplicants('report', applicants)),
    ['/applicants/0/ssn'],
  );
  assert.deepEqual(parseApplicants('report', [anApplicant()]), [anApplicant()]);
});
