import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswerContext, readAnswer } from '../../src/gateway/answers.ts';
import { readResponse } from '../../src/gateway/envelope.ts';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import { buildFailsafeRequest } from '../../src/gateway/requests.ts';
import type { Answer } from '../../src/model/inquiry.ts';
import type { Applicant } from '../../src/model/shapes.ts';
import {
  applicant,
  profileFor,
  recordBody,
  reportRequest,
  secondApplicant,
  secondUseRequest,
  TRACE_NUMBER,
} from './fixtures.ts';

const REQUESTED_AT = '2026-07-01T10:00:00.000Z';
const ADA = applicant();
const BEN = secondApplicant();

function contextOf(applicants: Applicant[], changes: Partial<GatewayProfile> = {}): AnswerContext {
  const profile = profileFor('http://127.0.0.1', changes);
  return { profile, request: reportRequest(profile, { applicants }), expected: applicants, requestedAt: REQUESTED_AT };
}

function failsafeContext(applicants: Applicant[]): AnswerContext {
  const profile = profileFor('http://127.0.0.1');
  const request = buildFailsafeRequest({ customerTraceNumber: TRACE_NUMBER, applicants });
  return { profile, request, expected: applicants, requestedAt: REQUESTED_AT };
}

function read(body: unknown, context: AnswerContext = contextOf([ADA])): Answer {
  const answer = readAnswer(typeof body === 'string' ? body : JSON.stringify(body), context);
  assert.ok(answer, 'must be JSON');
  return answer;
}

function assertHold(answer: Answer, problem: RegExp): void {
  assert.equal(answer.kind, 'unexpectedResponse', JSON.stringify(answer));
  assert.match((answer as { problems: string[] }).problems.join('; '), problem);
}

function consumersOf(answer: Answer): { applicantId: string; consumerId: string }[] {
  assert.equal(answer.kind, 'outcome', JSON.stringify(answer));
  return (answer.kind === 'outcome' && answer.reference?.applicants) || [];
}

function record(entries: unknown[], changes: Record<string, unknown> = {}) {
  return { returnCode: 'Record', reportReferenceNumber: 'RRN-0001', applicants: entries, ...changes };
}

test('normalises a record of two applicants, in whatever order they come', () => {
  const answer = read(recordBody([BEN, ADA]), contextOf([ADA, BEN]));
  assert.deepEqual(answer, {
    kind: 'outcome',
    outcome: 'record',
    returnCode: 'Record',
    reference: {
      reportReferenceNumber: 'RRN-0001',
      requestedAt: REQUESTED_AT,
      applicants: [
        { applicantId: '2A', consumerId: 'CONSUMER1' },
        { applicantId: '1A', consumerId: 'CONSUMER2' },
      ],
    },
  });
});

for (const list of ['consumers', 'Consumers']) {
  test(`reads entries from ${list} as from applicants`, () => {
    const { applicants, ...rest } = JSON.parse(recordBody());
    assert.deepEqual(read({ ...rest, [list]: applicants }), read(recordBody()));
  });
}

test('keeps what it does not know, and the reasons that the provider is known to give', () => {
  const body = {
    ...JSON.parse(recordBody()),
    returnReasonCode: '0001',
    returnReasonDesc: 'x',
    errorMessage: '',
    new: [1],
  };
  assert.equal(read(body).kind, 'outcome');
  const response = readResponse(JSON.stringify(body));
  assert.deepEqual([response?.returnReasonCode, response?.new, response?.applicants.length], ['0001', [1], 1]);
});

test('reads a stored answer in one shape, whatever its list is called', () => {
  const response = readResponse('{"returnCode":"Record","Consumers":[{"consumerId":"C1","x":1}]}');
  assert.deepEqual(response, { returnCode: 'Record', applicants: [{ consumerId: 'C1', x: 1 }] });
  assert.equal(readResponse('not JSON'), null);
});

// Return codes

const REPORT_CODES: [code: string, outcome: string][] = [
  ['No Record', 'noRecord'],
  ['Suppress', 'noReport'],
  ['Exempt', 'noReport'],
];

for (const [returnCode, outcome] of REPORT_CODES) {
  test(`reads ${returnCode} as ${outcome}, without a reference`, () => {
    const answer = read({ returnCode, applicants: [{ applicantId: '1A' }] });
    assert.deepEqual(answer, { kind: 'outcome', outcome, returnCode });
    assert.deepEqual(read({ returnCode }), answer);
  });
}

for (const returnCode of ['Error', 'record', 'Record ', 'NoRecord', 'toString', '__proto__']) {
  test(`leaves the meaning of ${JSON.stringify(returnCode)} to a person`, () => {
    assert.deepEqual(read({ ...record([]), returnCode }), { kind: 'returnCodeUnknown', returnCode });
  });
}

test('lets the profile give a code a meaning, or another meaning', () => {
  const context = contextOf([ADA], { returnCodes: { PREQUAL: { Error: 'noReport', Suppress: 'noRecord' } } });
  assert.deepEqual(read({ returnCode: 'Error' }, context), {
    kind: 'outcome',
    outcome: 'noReport',
    returnCode: 'Error',
  });
  const suppressed = read({ returnCode: 'Suppress' }, context);
  assert.equal(suppressed.kind === 'outcome' && suppressed.outcome, 'noRecord');
});

test('holds an answer without a return code, or with one that nobody could show', () => {
  assertHold(read({ applicants: [] }), /returnCode is required/);
  assertHold(read({ returnCode: '' }), /returnCode is required/);
  assertHold(read({ returnCode: 7 }), /returnCode must be text/);
  assertHold(read({ returnCode: 'x'.repeat(41) }), /returnCode must be text/);
  assertHold(read({ returnCode: 'a\nb' }), /returnCode must be text/);
});

// References and consumers

test('holds a record without a reference number, or with one that is too long', () => {
  assertHold(read(recordBody([ADA], { reportReferenceNumber: undefined })), /reportReferenceNumber is required/);
  assertHold(read(recordBody([ADA], { reportReferenceNumber: 'x'.repeat(31) })), /reportReferenceNumber must be/);
  assertHold(read(recordBody([ADA], { reportReferenceNumber: 12 })), /reportReferenceNumber must be/);
  assertHold(read(recordBody([ADA], { reportReferenceNumber: 'a\u0000b' })), /reportReferenceNumber must be/);
});

test('holds several reference numbers', () => {
  const entry = { ...JSON.parse(recordBody()).applicants[0], reportReferenceNumber: 'RRN-0002' };
  assertHold(read(record([entry])), /must be one for the whole answer/);
});

test('holds a record without a consumerId, with one that is too long, and with one for two people', () => {
  assertHold(read(record([{ applicantId: '1A' }])), /applicants\/0\/consumerId/);
  assertHold(read(record([{ applicantId: '1A', consumerId: 'x'.repeat(17) }])), /applicants\/0\/consumerId/);
  assertHold(read(record([{ applicantId: '1A', consumerId: 17 }])), /applicants\/0\/consumerId/);
  const same = [
    { applicantId: '1A', consumerId: 'C1' },
    { applicantId: '2A', consumerId: 'C1' },
  ];
  assertHold(read(record(same), contextOf([ADA, BEN])), /names two applicants/);
});

// Who is who

test('holds more or fewer applicants than were asked for', () => {
  assertHold(read(recordBody([ADA, BEN]), contextOf([ADA])), /must have 1 entries/);
  assertHold(read(recordBody([ADA]), contextOf([ADA, BEN])), /must have 2 entries/);
  assertHold(read(recordBody([])), /must have 1 entries/);
});

test('holds an applicantId that was not asked for, and one that comes twice', () => {
  assertHold(read(recordBody([applicant({ applicantId: '9Z' })])), /applicantId that was asked for/);
  assertHold(read(recordBody([ADA, ADA]), contextOf([ADA, BEN])), /another entry names already/);
});

test('matches by SSN where no applicantId comes, with dashes, as a number, or masked', () => {
  const asked = contextOf([ADA, BEN]);
  for (const [ada, ben] of [
    ['912-34-5678', '998 76 5432'],
    [912345678, 998765432],
    ['XXX-XX-5678', '*****5432'],
    ['5678', '5432'],
    ['###345678', 'xxx765432'],
  ]) {
    const entries = [
      { consumerId: 'BEN', consumer: { ssn: ben } },
      { consumerId: 'ADA', consumer: { ssn: ada } },
    ];
    assert.deepEqual(consumersOf(read(record(entries), asked)), [
      { applicantId: '2A', consumerId: 'BEN' },
      { applicantId: '1A', consumerId: 'ADA' },
    ]);
  }
});

test('holds two applicants with neither applicantId nor a telling SSN', () => {
  const asked = contextOf([ADA, BEN], { ssnMismatch: 'flag' });
  for (const ssn of [undefined, '', 'XXXXXXXXX', '900000000', 'N/A']) {
    const entries = [
      { consumerId: 'C1', consumer: { ssn } },
      { consumerId: 'C2', consumer: { ssn } },
    ];
    assertHold(read(record(entries), asked), /by applicantId or SSN/);
  }
});

test('holds a masked SSN that may be that of either applicant', () => {
  const twin = secondApplicant({ ssn: '900005678' });
  const entries = [
    { consumerId: 'C1', consumer: { ssn: 'XXX-XX-5678' } },
    { consumerId: 'C2', consumer: { ssn: 'XXX-XX-5678' } },
  ];
  assertHold(read(record(entries), contextOf([ADA, twin])), /several applicants/);
  const named = entries.map((entry, index) => ({ ...entry, applicantId: ['1A', '2A'][index] }));
  assert.equal(consumersOf(read(record(named), contextOf([ADA, twin]))).length, 2);
});

for (const ssnMismatch of ['hold', 'flag'] as const) {
  test(`holds an SSN that equals another applicant's, where the profile says ${ssnMismatch}`, () => {
    const asked = contextOf([ADA, BEN], { ssnMismatch });
    const swapped = [
      { applicantId: '1A', consumerId: 'C1', consumer: { ssn: BEN.ssn } },
      { applicantId: '2A', consumerId: 'C2', consumer: { ssn: ADA.ssn } },
    ];
    assertHold(read(record(swapped), asked), /another applicant's SSN/);
    const masked = swapped.map((entry) => ({ ...entry, consumer: { ssn: `XXXXX${entry.consumer.ssn.slice(-4)}` } }));
    assertHold(read(record(masked), asked), /another applicant's SSN/);
    const beside = [{ ...swapped[0], ssn: ADA.ssn }, swapped[1]];
    assertHold(read(record(beside), asked), /another applicant's SSN/);
  });
}

test('holds an SSN that equals none, or flags it where the profile says so', () => {
  const body = record([{ applicantId: '1A', consumerId: 'C1', consumer: { ssn: '900000001' } }]);
  assertHold(read(body), /SSN that was asked for/);
  const flagged = read(body, contextOf([ADA], { ssnMismatch: 'flag' }));
  assert.equal(flagged.kind === 'outcome' && flagged.flagged, 'ssnMismatch');
});

test('takes a single entry for the single applicant, unless it names another', () => {
  assert.equal(consumersOf(read(record([{ consumerId: 'C1' }])))[0]?.applicantId, '1A');
  assertHold(read(record([{ consumerId: 'C1', ssn: '900000001' }])), /SSN that was asked for/);
});

// Echoes

test('holds an echo that is not ours, at the top and in an entry', () => {
  for (const echo of ['customerTraceNumber', 'productCode', 'customerId']) {
    assertHold(read(recordBody([ADA], { [echo]: 'SOMEBODYELSE' })), new RegExp(`/${echo} must be that of the request`));
    const entry = { ...JSON.parse(recordBody()).applicants[0], [echo]: 'SOMEBODYELSE' };
    assertHold(read(record([entry])), new RegExp(`/applicants/0/${echo} must be`));
  }
});

test('accepts echoes that are ours', () => {
  const echoes = { customerTraceNumber: TRACE_NUMBER, productCode: 'PREQUAL', customerId: 'HOUSE0001' };
  assert.equal(read(recordBody([ADA], echoes)).kind, 'outcome');
});

// SECONDUSE

function secondUseContext(changes: Partial<GatewayProfile> = {}): AnswerContext {
  const profile = profileFor('http://127.0.0.1', changes);
  return { profile, request: secondUseRequest(profile), expected: [], requestedAt: REQUESTED_AT };
}

test('knows a share as posted by Record alone', () => {
  assert.equal(read({ returnCode: 'Record', reportReferenceNumber: 'SU-1' }, secondUseContext()).kind, 'outcome');
  for (const returnCode of ['No Record', 'Suppress', 'Exempt', 'Error']) {
    assert.deepEqual(read({ returnCode }, secondUseContext()), { kind: 'returnCodeUnknown', returnCode });
  }
});

test('lets no setting say that a share was answered but not posted', () => {
  const context = secondUseContext({ returnCodes: { SECONDUSE: { 'No Record': 'noRecord', Posted: 'record' } } });
  assert.equal(read({ returnCode: 'No Record' }, context).kind, 'returnCodeUnknown');
  assert.equal(read({ returnCode: 'Posted', reportReferenceNumber: 'SU-1' }, context).kind, 'outcome');
});

test('holds a confirmation without a reference, or for a consumer who was not shared', () => {
  assertHold(read({ returnCode: 'Record' }, secondUseContext()), /reportReferenceNumber is required/);
  const foreign = record([{ consumerId: 'SOMEBODYELSE' }]);
  assertHold(read(foreign, secondUseContext()), /must be one that was shared/);
});

// FAILSAFE

function failsafeEntry(changes: Record<string, unknown> = {}) {
  return {
    softwareProviderId: 'CRJY',
    softwareProviderVersion: '1',
    customerTraceNumber: TRACE_NUMBER,
    userId: 'user',
    reportReferenceNumber: 'FS-1',
    productCode: 'FAILSAFE',
    customerId: 'HOUSE0001',
    applicantId: '1A',
    consumerId: 'C1',
    returnCode: 'No Record',
    ...changes,
  };
}

test("reads FAILSAFE's own shape: outcome and consumer for each applicant, one reference", () => {
  const entries = [failsafeEntry(), failsafeEntry({ applicantId: '2A', consumerId: 'C2', returnCode: 'Record' })];
  assert.deepEqual(read({ consumers: entries }, failsafeContext([ADA, BEN])), {
    kind: 'outcome',
    outcome: 'record',
    returnCode: 'Record',
    reference: {
      reportReferenceNumber: 'FS-1',
      requestedAt: REQUESTED_AT,
      applicants: [{ applicantId: '2A', consumerId: 'C2' }],
    },
    applicants: [
      { applicantId: '1A', outcome: 'noRecord' },
      { applicantId: '2A', outcome: 'record' },
    ],
  });
});

test('reads the sample of FAILSAFE, whose applicantId the request never carried', () => {
  const answer = read({ consumers: [failsafeEntry({ applicantId: '7Q' })] }, failsafeContext([ADA]));
  assert.deepEqual(answer, {
    kind: 'outcome',
    outcome: 'noRecord',
    returnCode: 'No Record',
    applicants: [{ applicantId: '1A', outcome: 'noRecord' }],
  });
});

test('holds FAILSAFE entries whose applicantId may be an echo or a count', () => {
  const entries = [failsafeEntry(), failsafeEntry({ applicantId: '2A', consumerId: 'C2' })];
  assertHold(read({ consumers: entries }, failsafeContext([BEN, ADA])), /by applicantId or SSN/);
  const renamed = [applicant({ applicantId: 'X' }), secondApplicant({ applicantId: 'Y' })];
  assertHold(read({ consumers: entries }, failsafeContext(renamed)), /by applicantId or SSN/);
});

test('holds FAILSAFE entries with several references, and leaves an unknown code of one to a person', () => {
  const two = [failsafeEntry(), failsafeEntry({ applicantId: '2A', reportReferenceNumber: 'FS-2' })];
  assertHold(read({ consumers: two }, failsafeContext([ADA, BEN])), /one for the whole answer/);
  const odd = [failsafeEntry(), failsafeEntry({ applicantId: '2A', returnCode: 'Suppress' })];
  const answer = read({ consumers: odd }, failsafeContext([ADA, BEN]));
  assert.deepEqual(answer, { kind: 'returnCodeUnknown', returnCode: 'Suppress' });
});

test('holds a top-level code that the entries contradict', () => {
  const body = record([{ applicantId: '1A', consumerId: 'C1', returnCode: 'No Record' }]);
  assertHold(read({ ...body, returnCode: 'Record' }), /must agree with those of the entries/);
  assert.equal(read({ ...body, returnCode: 'No Record' }).kind, 'outcome');
});

// Hostile JSON

test('does not take what is not JSON for an answer, and quotes nothing of it', () => {
  for (const text of ['', 'Record', '{"returnCode":', '{} {}', '\u0000']) {
    assert.equal(readAnswer(text, contextOf([ADA])), null);
  }
});

test('holds JSON that is no object, and lists that are none', () => {
  for (const text of ['null', '"Record"', '12', 'true', '[]']) assertHold(read(text), /\/ must be an object/);
  assertHold(read({ returnCode: 'Record', applicants: {} }), /applicants must be a list/);
  assertHold(read({ returnCode: 'Record', applicants: [null] }), /nothing but objects/);
  assertHold(read({ returnCode: 'Record', applicants: [], consumers: [] }), /must not have both/);
});

test('holds JSON that nests without end', () => {
  const text = `{"returnCode":"No Record","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
  assertHold(read(text), /nests deeper/);
});

test('holds a deciding member that is given twice in one object, however it is spelled', () => {
  assertHold(read('{"returnCode":"No Record","returnCode":"Record"}'), /gives returnCode twice/);
  assertHold(read('{"returnCode":"No Record","return\\u0043ode" : "Record"}'), /gives returnCode twice/);
  const twice = recordBody().replace('"consumerId":"CONSUMER1"', '"consumerId":"OTHER","consumerId":"CONSUMER1"');
  assertHold(read(twice), /gives consumerId twice/);
  // Text that looks like members is none, and the same name in two objects is not twice.
  assert.equal(read(recordBody([ADA], { note: '"returnCode":"Record","returnCode":"No Record"' })).kind, 'outcome');
  assert.equal(read(recordBody([ADA, BEN]), contextOf([ADA, BEN])).kind, 'outcome');
});

test('takes nothing from a prototype', () => {
  const inherited = '{"__proto__":{"returnCode":"Record","reportReferenceNumber":"R"},"applicants":[]}';
  assertHold(read(inherited), /returnCode is required/);
  const entry = '{"returnCode":"Record","reportReferenceNumber":"R","applicants":[{"__proto__":{"consumerId":"C1"}}]}';
  assertHold(read(entry), /consumerId/);
  assert.equal(({} as { returnCode?: string }).returnCode, undefined);
  assert.deepEqual(readResponse(inherited), { applicants: [] });
});

test('never puts a value of the answer into its problems', () => {
  const sentinel = 'SENTINEL-VALUE-OF-SOMEBODY';
  const hostile = [
    recordBody([ADA], { customerTraceNumber: sentinel, reportReferenceNumber: sentinel.repeat(3) }),
    recordBody([applicant({ applicantId: sentinel })]),
    JSON.stringify(record([{ applicantId: '1A', consumerId: sentinel, consumer: { ssn: sentinel } }])),
    JSON.stringify({ returnCode: `${sentinel}\n`, [sentinel]: 1 }),
  ];
  for (const body of hostile) assert.ok(!JSON.stringify(read(body)).includes(sentinel), body);
});
