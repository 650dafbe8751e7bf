import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readResponse } from '../../src/gateway/envelope.ts';
import { recordBody } from './fixtures.ts';
import {
  ADA,
  assertHold,
  BEN,
  consumersOf,
  contextOf,
  failsafeContext,
  failsafeEntry,
  REQUESTED_AT,
  read,
  record,
  secondUseContext,
} from './reading-answers.ts';

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

test('tells reasons and the number of an answer without a record, and not the provider’s words', () => {
  const none = {
    ...{ returnCode: 'No Record', reportReferenceNumber: 'NR-1', applicants: [{ applicantId: '1A' }] },
    ...{ returnReasonCode: 'N1', returnReasonDesc: 'No file\n', errorMessage: 'about ADA' },
  };
  assert.deepEqual(read(none), {
    ...{ kind: 'outcome', outcome: 'noRecord', returnCode: 'No Record', noRecordReference: 'NR-1' },
    returnReasonCode: 'N1',
  });
  const [first, second] = JSON.parse(recordBody([ADA, BEN])).applicants;
  const own = record([first, { ...second, returnReasonCode: 7, errorMessage: 'about BEN' }]);
  const answer = read(own, contextOf([ADA, BEN]));
  assert.deepEqual(answer.kind === 'outcome' && answer.applicants, [
    { applicantId: '1A', outcome: 'record' },
    { applicantId: '2A', outcome: 'record', returnReasonCode: '7' },
  ]);
  assert.ok(answer.kind === 'outcome' && answer.noRecordReference === undefined);
});

test('leaves out a reason that is no code: it decides nothing, and may be personal', () => {
  for (const returnReasonCode of ['12345', '9001-2', '', ' N1', 'É1', 1.5, -1, true, null, ['N1'], { code: 'N1' }]) {
    const answer = read({ ...JSON.parse(recordBody()), returnReasonCode });
    assert.ok(answer.kind === 'outcome' && !('returnReasonCode' in answer), String(returnReasonCode));
  }
  const unknown = { ...JSON.parse(recordBody()), returnCode: 'Maybe', returnReasonCode: 'M1', errorMessage: 'x' };
  assert.deepEqual(read(unknown), { kind: 'returnCodeUnknown', returnCode: 'Maybe', returnReasonCode: 'M1' });
});

test('reads a stored answer in one shape, whatever its list is called', () => {
  const response = readResponse('{"returnCode":"Record","Consumers":[{"consumerId":"C1","x":1}]}');
  assert.deepEqual(response, { returnCode: 'Record', applicants: [{ consumerId: 'C1', x: 1 }] });
  assert.equal(readResponse('not JSON'), null);
});

// Return codes

test('reads No Record as noRecord, without a reference', () => {
  const returnCode = 'No Record';
  const answer = read({ returnCode, applicants: [{ applicantId: '1A' }] });
  assert.deepEqual(answer, { kind: 'outcome', outcome: 'noRecord', returnCode });
  assert.deepEqual(read({ returnCode }), answer);
});

// Interface 7.3: the complete list of codes is not shown.
for (const returnCode of ['Suppress', 'Exempt', 'Error', 'record', 'Record ', 'NoRecord', 'toString', '__proto__']) {
  test(`leaves the meaning of ${JSON.stringify(returnCode)} to a person`, () => {
    assert.deepEqual(read({ ...record([]), returnCode }), { kind: 'returnCodeUnknown', returnCode });
    const [full] = JSON.parse(recordBody()).applicants;
    for (const entry of [{ applicantId: '1A' }, full]) {
      assert.deepEqual(read(record([entry], { returnCode })), { kind: 'returnCodeUnknown', returnCode });
      assert.equal(read(record([{ ...entry, returnCode }])).kind, 'returnCodeUnknown');
    }
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
  assert.equal(read({ returnCode: 'Exempt' }, context).kind, 'returnCodeUnknown');
});

test('passes over no report that came under a code without a record, in an entry or beside them', () => {
  const context = contextOf([ADA], { returnCodes: { PREQUAL: { Exempt: 'noReport' } } });
  const [full] = JSON.parse(recordBody()).applicants;
  for (const returnCode of ['Exempt', 'No Record']) {
    for (const consumer of [full.consumer, { notShown: 'x' }, 'SEE ATTACHMENT', [{}]]) {
      const body = { returnCode, applicants: [{ ...full, consumer }] };
      assertHold(read(body, context), /applicants\/0\/consumer must not come without a record/);
      assertHold(read({ returnCode, consumer }, context), /\/consumer must not come without a record/);
    }
    for (const consumer of [undefined, null, '', {}, [], { names: [], ssn: '' }]) {
      assert.equal(read({ returnCode, applicants: [{ ...full, consumer }] }, context).kind, 'outcome');
    }
  }
});

test('keeps the consumerId of an answer without a record: by 2.4 it must be stored too', () => {
  const none = (entries: unknown[], asked = [ADA]) =>
    read({ returnCode: 'No Record', reportReferenceNumber: 'NR-1', applicants: entries }, contextOf(asked));
  const single = none([{ consumerId: 'C1' }]);
  assert.deepEqual(single.kind === 'outcome' && [single.applicants, single.noRecordReference], [
    [{ applicantId: '1A', outcome: 'noRecord', consumerId: 'C1' }],
    'NR-1',
  ]);
  const named = none([{ applicantId: '2A', consumerId: 'C2' }, { applicantId: '1A' }], [ADA, BEN]);
  assert.deepEqual(named.kind === 'outcome' && named.applicants, [
    { applicantId: '2A', outcome: 'noRecord', consumerId: 'C2' },
    { applicantId: '1A', outcome: 'noRecord' },
  ]);
  // 2.4 shows no applicantId: nothing says whose they are.
  const unnamed = none([{ consumerId: 'C1' }, { consumerId: 'C2' }], [ADA, BEN]);
  assert.deepEqual(unnamed.kind === 'outcome' && [unnamed.applicants, unnamed.unattributed], [
    [
      { applicantId: '1A', outcome: 'noRecord' },
      { applicantId: '2A', outcome: 'noRecord' },
    ],
    [{ consumerId: 'C1' }, { consumerId: 'C2' }],
  ]);
  assertHold(none([{ consumerId: 'x'.repeat(17) }]), /consumerId must be alphanumeric/);
});

test('holds an answer without a return code, or with an unprintable one', () => {
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
  assertHold(read(record([{ applicantId: '1A', consumer: {} }])), /applicants\/0\/consumerId/);
  assertHold(read(record([{ applicantId: '1A', consumerId: 'x'.repeat(17) }])), /applicants\/0\/consumerId/);
  assertHold(read(record([{ applicantId: '1A', consumerId: 17 }])), /applicants\/0\/consumerId/);
  const same = [
    { applicantId: '1A', consumerId: 'C1' },
    { applicantId: '2A', consumerId: 'C1' },
  ];
  assertHold(read(record(same), contextOf([ADA, BEN])), /names two applicants/);
});

test('holds a record whose consumer is missing, empty or not as the interface shows one', () => {
  const [entry] = JSON.parse(recordBody()).applicants;
  const cases: [consumer: unknown, problem: RegExp][] = [
    [undefined, /applicants\/0\/consumer is required/],
    [null, /consumer is required/],
    ['', /consumer is required/],
    ['SEE ATTACHMENT', /consumer must be an object/],
    [[entry.consumer], /consumer must be an object/],
    [{}, /consumer must not be empty/],
    [{ names: [], ssn: '', dob: null, accounts: [] }, /consumer must not be empty/],
    [{ notShown: 'x' }, /consumer must not be empty/],
    [{ ...entry.consumer, names: 'ADA' }, /consumer\/names must be a list of objects/],
    [{ ...entry.consumer, accounts: ['x'] }, /consumer\/accounts must be a list of objects/],
    [{ ...entry.consumer, dob: 19_800_229 }, /consumer\/dob must be text/],
  ];
  for (const [consumer, problem] of cases) assertHold(read(record([{ ...entry, consumer }])), problem);
  // Without a record no consumer is needed.
  const bare = { returnCode: 'No Record', applicants: [{ applicantId: '1A', consumer: '' }] };
  assert.equal(read(bare).kind, 'outcome');
});

test('holds a consumerId for two people of whom one has no record: it may be that of either', () => {
  const entries = [
    failsafeEntry({ ssn: ADA.ssn, consumerId: 'C1', returnCode: 'No Record' }),
    failsafeEntry({ ssn: BEN.ssn, consumerId: 'C1', returnCode: 'Record' }),
  ];
  assertHold(
    read({ consumers: entries }, failsafeContext([ADA, BEN])),
    /consumers\/1\/consumerId names two applicants/,
  );
});

test('reads a joint record of which one applicant has none: neither report nor consumerId', () => {
  const [ada] = JSON.parse(recordBody()).applicants;
  const answer = read(record([ada, { applicantId: '2A' }]), contextOf([ADA, BEN]));
  assert.deepEqual(consumersOf(answer), [{ applicantId: '1A', consumerId: 'CONSUMER1' }]);
  assert.deepEqual(answer.kind === 'outcome' && answer.applicants, [
    { applicantId: '1A', outcome: 'record' },
    { applicantId: '2A', outcome: 'noRecord' },
  ]);
  assert.deepEqual(answer.kind === 'outcome' && answer.remarks, [
    { path: '/applicants/1', rule: 'is empty beside a record: read as no record of this applicant' },
  ]);
  assertHold(read(record([ada, { applicantId: '2A', consumer: {} }]), contextOf([ADA, BEN])), /1\/consumerId/);
  assertHold(read(record([{ applicantId: '1A' }, { applicantId: '2A' }]), contextOf([ADA, BEN])), /0\/consumerId/);
});

// Echoes: the interface shows none in a report (2.4) or a confirmation (2.7), and no values in FAILSAFE's sample (2.8)

test('holds an echo that names another request, at the top and in an entry', () => {
  for (const [echo, value] of [
    ['customerTraceNumber', 'SOMEBODYELSE'],
    ['productCode', 'CR'],
    ['customerId', 'SOMEBODYELSE'],
  ] as const) {
    assertHold(read(recordBody([ADA], { [echo]: value })), new RegExp(`/${echo} must be that of the request`));
    const entry = { ...JSON.parse(recordBody()).applicants[0], [echo]: value };
    assertHold(read(record([entry])), new RegExp(`/applicants/0/${echo} must be`));
  }
});

test('tells an echo that differs and names no other request', () => {
  const [entry] = JSON.parse(recordBody()).applicants;
  const answer = read(record([{ ...entry, customerId: 'house0001' }], { productCode: 'PQ' }));
  assert.deepEqual(answer.kind === 'outcome' && answer.remarks, [
    { path: '/productCode', rule: 'is not that of the request' },
    { path: '/applicants/0/customerId', rule: 'is not that of the request' },
  ]);
  assert.ok(!JSON.stringify(answer).includes('PQ') && !JSON.stringify(answer).includes('house'), 'never a value');
});

// SECONDUSE

test('knows a share as posted by Record alone', () => {
  assert.equal(read({ returnCode: 'Record', reportReferenceNumber: 'SU-1' }, secondUseContext()).kind, 'outcome');
  const withEntries = record([{ applicantId: '1A' }, { consumerId: 'CONSUMER1' }]);
  assert.equal(read(withEntries, secondUseContext()).kind, 'outcome');
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

test("holds a confirmation under the number of the report that was shared: it is none of the share's own", () => {
  const own = { returnCode: 'Record', reportReferenceNumber: 'RRN-1' };
  assertHold(read(own, secondUseContext()), /must differ from the shared report's/);
  assertHold(read({ ...own, consumers: [{ reportReferenceNumber: 'RRN-1' }] }, secondUseContext()), /must differ/);
});

// FAILSAFE: its request carries no applicantId (4.3), so nothing in the interface's entries (2.8) says whose one is

test("reads FAILSAFE's own shape: outcome, number and consumer of the only applicant", () => {
  for (const [returnCode, outcome] of [
    ['Record', 'record'],
    ['No Record', 'noRecord'],
  ]) {
    const answer = read({ consumers: [failsafeEntry({ applicantId: '7Q', returnCode })] }, failsafeContext([ADA]));
    const reference = { reportReferenceNumber: 'FS-1', requestedAt: REQUESTED_AT };
    const consumer = { applicantId: '1A', consumerId: 'C1' };
    assert.deepEqual(answer, {
      ...{ kind: 'outcome', outcome, returnCode },
      ...(outcome === 'record'
        ? { reference: { ...reference, applicants: [consumer] } }
        : { noRecordReference: 'FS-1' }),
      applicants: [{ ...consumer, outcome, returnCode, reportReferenceNumber: 'FS-1' }],
    });
  }
});

test('holds FAILSAFE entries whose outcomes differ, whatever ids the gateway gave them', () => {
  for (const ids of [['1A', '2A'], ['2A', '1A'], ['01', '02'], []]) {
    const entries = [
      failsafeEntry({ applicantId: ids[0] }),
      failsafeEntry({ applicantId: ids[1], consumerId: 'C2', returnCode: 'Record' }),
    ];
    for (const asked of [
      [ADA, BEN],
      [BEN, ADA],
    ]) {
      assertHold(read({ consumers: entries }, failsafeContext(asked)), /by applicantId or SSN/);
    }
    // Beyond the interface, and a proof all the same.
    const [first, second] = entries;
    const named = [
      { ...first, ssn: BEN.ssn },
      { ...second, ssn: ADA.ssn },
    ];
    const answer = read({ consumers: named }, failsafeContext([ADA, BEN]));
    assert.deepEqual(answer.kind === 'outcome' && answer.applicants?.map((one) => [one.applicantId, one.outcome]), [
      ['2A', 'noRecord'],
      ['1A', 'record'],
    ]);
  }
});

for (const [returnCode, outcome] of [
  ['No Record', 'noRecord'],
  ['Record', 'record'],
]) {
  test(`tells FAILSAFE entries that agree on ${returnCode} for nobody in particular, and says that they are not attributable`, () => {
    const entries = ['1A', '2A'].map((applicantId) =>
      failsafeEntry({
        applicantId,
        consumerId: `C-${applicantId}`,
        returnCode,
        reportReferenceNumber: `FS-${applicantId}`,
      }),
    );
    assert.deepEqual(read({ consumers: entries }, failsafeContext([ADA, BEN])), {
      kind: 'outcome',
      outcome,
      returnCode,
      applicants: [
        { applicantId: '1A', outcome },
        { applicantId: '2A', outcome },
      ],
      unattributed: ['1A', '2A'].map((id) => ({
        ...{ returnCode, consumerId: `C-${id}`, reportReferenceNumber: `FS-${id}` },
      })),
    });
  });
}

test('holds a FAILSAFE record without a number, and reads one number for all', () => {
  const one = failsafeEntry({ returnCode: 'Record' });
  const { reportReferenceNumber: _, ...none } = one;
  assertHold(read({ consumers: [none] }, failsafeContext([ADA])), /reportReferenceNumber is required/);
  assert.deepEqual(consumersOf(read({ consumers: [one] }, failsafeContext([ADA]))), [
    { applicantId: '1A', consumerId: 'C1' },
  ]);
});

test('gives no applicant a consumerId of FAILSAFE that two entries have', () => {
  const same = [failsafeEntry({ ssn: ADA.ssn }), failsafeEntry({ ssn: BEN.ssn })];
  const answer = read({ consumers: same }, failsafeContext([ADA, BEN]));
  assert.deepEqual(answer.kind === 'outcome' && answer.applicants?.map(({ consumerId }) => consumerId), [
    undefined,
    undefined,
  ]);
  assert.deepEqual(answer.kind === 'outcome' && answer.unattributed, [{ consumerId: 'C1' }, { consumerId: 'C1' }]);
});

test('leaves an unknown code of one FAILSAFE entry to a person', () => {
  const odd = [failsafeEntry(), failsafeEntry({ applicantId: '2A', returnCode: 'Suppress' })];
  const answer = read({ consumers: odd }, failsafeContext([ADA, BEN]));
  assert.deepEqual(answer, { kind: 'returnCodeUnknown', returnCode: 'Suppress' });
});

test('holds a top-level code that the entries contradict', () => {
  const body = record([{ applicantId: '1A', consumerId: 'C1', returnCode: 'No Record' }]);
  assertHold(read({ ...body, returnCode: 'Record' }), /must agree with those of the entries/);
  assert.equal(read({ ...body, returnCode: 'No Record' }).kind, 'outcome');
});
