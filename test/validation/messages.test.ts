import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MESSAGES } from '../../src/messages/all-messages.ts';
import { INPUTS } from '../../src/messages/inputs/all-inputs.ts';
import { parseApplicants, parseMessage } from '../../src/messages/inputs/parse-message.ts';
import { InvalidInputError, type Problem } from '../../src/model/problems.ts';
import { aConsent, aDecision, aJourney, anApplicant } from './sample-messages.ts';

const LIMIT = { maxApplicants: 2 };

function problemsOf(parse: () => unknown): readonly Problem[] {
  try {
    parse();
  } catch (error) {
    assert.ok(error instanceof InvalidInputError, String(error));
    return error.problems;
  }
  return [];
}

const pathsOf = (parse: () => unknown) => problemsOf(parse).map(({ path }) => path);

describe('lendingJourney input', () => {
  it('is accepted with nothing but what is required', () => {
    const input = aJourney();
    assert.deepEqual(parseMessage(INPUTS.lendingJourney, input, LIMIT), input);
  });

  it('is accepted with every field', () => {
    const input = aJourney({
      profile: 'east-2',
      stages: ['PREQUAL', 'PRECLOSE'],
      gates: { PRECLOSE: { pass: 'auto', expiresAfter: 'P14D' } },
      onNoRecord: 'continue',
      sharesOpenFor: 'PT12H',
      shares: [
        {
          shareId: 'S1',
          endUser: 'Second Lender',
          permissiblePurposeCode: '05',
          reportOf: 'PRECLOSE',
          awaitConsentFor: 'P10D',
          consentValidFor: 'P90D',
        },
      ],
    });
    assert.deepEqual(parseMessage(INPUTS.lendingJourney, input, LIMIT), input);
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
    ['a gate before the first stage of all', { gates: { PREQUAL: {} } }, ['/gates']],
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
    [
      'a share that names nobody',
      { shares: [{ shareId: 'S1', permissiblePurposeCode: '05' }] },
      ['/shares/0/endUserCode'],
    ],
    [
      'a share with the journey’s own end user',
      {
        shares: [{ shareId: 'S1', permissiblePurposeCode: '05', endUserCode: 'EU123' }],
      },
      ['/shares/0/endUserCode'],
    ],
    [
      'two shares of one id',
      {
        shares: ['X', 'Y'].map((endUserCode) => ({ shareId: 'S1', permissiblePurposeCode: '05', endUserCode })),
      },
      ['/shares/1/shareId'],
    ],
    [
      'a share of a stage that is left out',
      {
        stages: ['PREQUAL'],
        shares: [{ shareId: 'S1', permissiblePurposeCode: '05', endUserCode: 'X', reportOf: 'PREAPP' }],
      },
      ['/shares/0/reportOf'],
    ],
    ['a duration in months', { sharesOpenFor: 'P1M' }, ['/sharesOpenFor']],
    ['a duration of nothing', { sharesOpenFor: 'PT0S' }, ['/sharesOpenFor']],
    ['a duration without end', { sharesOpenFor: 'P99999D' }, ['/sharesOpenFor']],
    ['too many applicants', { applicants: [anApplicant(), anApplicant('2A'), anApplicant('3A')] }, ['/applicants']],
    ['no applicants', { applicants: [] }, ['/applicants']],
    ['an SSN of eight digits', { applicants: [{ ...anApplicant(), ssn: '90012345' }] }, ['/applicants/0/ssn']],
  ];
  for (const [what, change, paths] of cases) {
    it(`is refused for ${what}`, () => {
      const input = { ...aJourney(), ...change };
      assert.deepEqual(
        pathsOf(() => parseMessage(INPUTS.lendingJourney, input, LIMIT)),
        paths,
      );
    });
  }

  it('is told all of its problems at once, within fields and between them', () => {
    const paths = pathsOf(() =>
      parseMessage(
        INPUTS.lendingJourney,
        {
          journeyId: '',
          stages: ['PRECLOSE', 'PREQUAL'],
          permissiblePurposeCodes: {},
          applicants: [null],
          shares: [{}],
        },
        LIMIT,
      ),
    );
    assert.deepEqual(paths.toSorted(), [
      '/applicants/0',
      '/endUserCode',
      '/journeyId',
      '/permissiblePurposeCodes/PRECLOSE',
      '/permissiblePurposeCodes/PREQUAL',
      '/permissiblePurposeCodes/SECONDUSE',
      '/shares/0/endUserCode',
      '/shares/0/shareId',
      '/stages/1',
    ]);
  });

  it('is refused without a word of what it held', () => {
    const sentinel = 'Zebedee912345678';
    const input = {
      [sentinel]: sentinel,
      journeyId: `${sentinel}@example.com`,
      permissiblePurposeCodes: { [sentinel]: sentinel },
      applicants: [{ ...anApplicant(), ssn: sentinel, emailAddress: sentinel, [sentinel]: 1 }],
      stages: [sentinel],
      shares: [{ shareId: sentinel, endUser: sentinel.repeat(9) }],
    };
    const problems = problemsOf(() => parseMessage(INPUTS.lendingJourney, input, LIMIT));
    assert.ok(problems.length > 6);
    assert.ok(!JSON.stringify(problems).includes('Zebedee'));
    assert.ok(!new InvalidInputError(problems).message.includes('Zebedee'));
  });

  for (const value of [undefined, null, 'text', 7, [], true]) {
    it(`is refused where it is ${JSON.stringify(value) ?? 'missing'}`, () => {
      assert.deepEqual(
        pathsOf(() => parseMessage(INPUTS.lendingJourney, value, LIMIT)),
        [''],
      );
    });
  }

  it('comes back in its normal form, which is accepted again unchanged', () => {
    const applicant = anApplicant();
    const input = aJourney({
      applicants: [{ ...applicant, addresses: [{ ...applicant.addresses[0], zip: '62701-1234', state: 'il' }] }],
    });
    const once = parseMessage(INPUTS.lendingJourney, input, LIMIT);
    assert.equal(once.applicants[0]?.addresses[0]?.zip4, '1234');
    assert.deepEqual(parseMessage(INPUTS.lendingJourney, once, LIMIT), once);
  });
});

describe('consent', () => {
  it('is accepted as a grant with evidence, and as a denial or revocation without', () => {
    assert.deepEqual(parseMessage(MESSAGES.consent, aConsent()), aConsent());
    for (const decision of ['denied', 'revoked']) {
      const { evidence: _, ...message } = aConsent({ decision });
      assert.deepEqual(parseMessage(MESSAGES.consent, message), message);
    }
  });

  const { evidence, ...withoutEvidence } = aConsent();
  const cases: [string, object, string[]][] = [
    ['a grant without evidence', withoutEvidence, ['/evidence']],
    ['nobody it is for', aConsent({ secondaryUser: {} }), ['/secondaryUser/endUserCode']],
    ['a decision that is none', aConsent({ decision: 'maybe' }), ['/decision']],
    ['an instant without an offset', aConsent({ decidedAt: '2026-01-02T03:04:05' }), ['/decidedAt']],
    ['a day that does not exist', aConsent({ decidedAt: '2026-02-30T03:04:05Z' }), ['/decidedAt']],
    ['an applicant id of three characters', aConsent({ applicantId: '1AB' }), ['/applicantId']],
    ['an SSN for an id', aConsent({ consentId: '912-34-5678' }), ['/consentId']],
    [
      'an e-mail address as evidence',
      aConsent({ evidence: { ...evidence, reference: 'a@example.com' } }),
      ['/evidence/reference'],
    ],
  ];
  for (const [what, message, paths] of cases) {
    it(`is refused for ${what}`, () =>
      assert.deepEqual(
        pathsOf(() => parseMessage(MESSAGES.consent, message)),
        paths,
      ));
  }

  it('is told what stands for a time that the sender has not', () => {
    const { decidedAt: _, ...without } = aConsent();
    assert.throws(() => parseMessage(MESSAGES.consent, without), /\/decidedAt is required: .* decidedNow: true/);
  });
});

describe('resolveInquiry', () => {
  const applicants = [{ applicantId: '1A', consumerId: 'C1' }];
  const reference = { reportReferenceNumber: 'R1', requestedAt: '2026-01-02T03:04:05Z', applicants };

  for (const message of [
    aDecision(),
    aDecision({ action: 'abandon' }),
    aDecision({ action: 'accept', outcome: 'noRecord' }),
    aDecision({ action: 'accept', outcome: 'record', reference }),
    aDecision({ action: 'amend', applicants: [anApplicant()] }),
  ]) {
    it(`is accepted as ${message.action}${message.outcome ? ` with ${message.outcome}` : ''}`, () => {
      assert.deepEqual(parseMessage(MESSAGES.resolveInquiry, message, LIMIT), message);
    });
  }

  const twins = [...applicants, { applicantId: '2A', consumerId: 'C1' }];
  const cases: [string, Record<string, unknown>, string[]][] = [
    ['an accept without outcome', { action: 'accept' }, ['/outcome']],
    ['an accepted record without reference', { action: 'accept', outcome: 'record' }, ['/reference']],
    [
      'a reference without consumers',
      {
        action: 'accept',
        outcome: 'record',
        reference: { ...reference, applicants: [] },
      },
      ['/reference/applicants'],
    ],
    [
      'a reference with one consumer twice',
      {
        action: 'accept',
        outcome: 'record',
        reference: { ...reference, applicants: twins },
      },
      ['/reference/applicants/1/consumerId'],
    ],
    ['a reference that belongs to no record', { action: 'accept', outcome: 'noRecord', reference }, ['/reference']],
    ['an amend with an empty list', { action: 'amend', applicants: [] }, ['/applicants']],
    ['applicants with a resend', { applicants: [anApplicant()] }, ['/applicants']],
    ['an outcome with a resend', { outcome: 'record' }, ['/outcome']],
    ['an attempt that is none', { attempt: 0 }, ['/attempt']],
    ['an attempt in words', { attempt: '1' }, ['/attempt']],
    ['an action that is none', { action: 'retry' }, ['/action']],
    ['a blank reason', { reason: ' ' }, ['/reason']],
    ['a reason without end', { reason: 'x'.repeat(501) }, ['/reason']],
    ['a line break in a name', { by: 'a\nb' }, ['/by']],
  ];
  for (const [what, change, paths] of cases) {
    it(`is refused for ${what}`, () => {
      assert.deepEqual(
        pathsOf(() => parseMessage(MESSAGES.resolveInquiry, aDecision(change), LIMIT)),
        paths,
      );
    });
  }
});

describe('the other messages', () => {
  it('advance is accepted with and without amended applicants', () => {
    const message = { journeyId: 'J1', to: 'PREAPP' };
    assert.deepEqual(parseMessage(MESSAGES.advance, message, LIMIT), message);
    const amended = { ...message, applicants: [anApplicant()] };
    assert.deepEqual(parseMessage(MESSAGES.advance, amended, LIMIT), amended);
  });

  it('advance is refused for a stage that is none, and for applicants that the gateway would refuse', () => {
    const message = { journeyId: 'J1', to: 'CR', applicants: [{ ...anApplicant(), dob: '2026-02-30' }] };
    assert.deepEqual(
      pathsOf(() => parseMessage(MESSAGES.advance, message, LIMIT)),
      ['/to', '/applicants/0/dob'],
    );
  });

  it('withdraw is refused without who and why', () => {
    assert.deepEqual(
      pathsOf(() => parseMessage(MESSAGES.withdrawJourney, { journeyId: 'J1' })),
      ['/by', '/reason'],
    );
    const message = { journeyId: 'J1', by: 'ops', reason: 'applicant changed plans' };
    assert.deepEqual(parseMessage(MESSAGES.withdrawJourney, message), message);
  });

  it('requestShare names who and why where it replaces another share, and only there', () => {
    const message = { journeyId: 'J-1', share: { shareId: 'S2', endUserCode: 'EU999' } };
    const signed = { ...message, replaces: 'S1', by: 'ops', reason: 'typed wrong' };
    assert.deepEqual(parseMessage(MESSAGES.requestShare, signed), signed);
    const paths = (value: unknown) =>
      problemsOf(() => parseMessage(MESSAGES.requestShare, value)).map(({ path }) => path);
    assert.deepEqual(paths({ ...message, replaces: 'S1' }), ['/by', '/reason']);
    assert.deepEqual(paths({ ...message, by: 'ops', reason: 'typed wrong' }), ['/by', '/reason']);
    assert.deepEqual(paths({ ...signed, replaces: 'S2' }), ['/replaces']);
  });

  it('requestShare is refused for a share that names nobody', () => {
    assert.deepEqual(
      pathsOf(() => parseMessage(MESSAGES.requestShare, { journeyId: 'J1', share: { shareId: 'S1' } })),
      ['/share/endUserCode'],
    );
    const message = { journeyId: 'J1', share: { shareId: 'S1', endUserCode: 'EU9' } };
    assert.deepEqual(parseMessage(MESSAGES.requestShare, message), message);
  });

  it('applicants by themselves have paths under /applicants', () => {
    const applicants = [{ ...anApplicant(), ssn: '1' }];
    assert.deepEqual(
      pathsOf(() => parseApplicants(applicants, LIMIT)),
      ['/applicants/0/ssn'],
    );
    assert.deepEqual(parseApplicants([anApplicant()], LIMIT), [anApplicant()]);
  });
});
