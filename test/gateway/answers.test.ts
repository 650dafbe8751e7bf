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

test('a record of two applicants is normalised independent of their order', () => {
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
  test(`entries in ${list} are read like entries in applicants`, () => {
    const { applicants, ...rest } = JSON.parse(recordBody());
    assert.deepEqual(read({ ...rest, [list]: applicants }), read(recordBody()));
  });
}

test('a stored answer keeps unknown fields and the reason fields', () => {
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

test('an outcome has the reason code and the no-record number, but not the provider’s free text', () => {
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

test('a reason that is not a short code is left out, since it may be personal', () => {
  for (const returnReasonCode of ['12345', '9001-2', '', ' N1', 'É1', 1.5, -1, true, null, ['N1'], { code: 'N1' }]) {
    const answer = read({ ...JSON.parse(recordBody()), returnReasonCode });
    assert.ok(answer.kind === 'outcome' && !('returnReasonCode' in answer), String(returnReasonCode));
  }
  const unknown = { ...JSON.parse(recordBody()), returnCode: 'Maybe', returnReasonCode: 'M1', errorMessage: 'x' };
  assert.deepEqual(read(unknown), { kind: 'returnCodeUnknown', returnCode: 'Maybe', returnReasonCode: 'M1' });
});

test('a stored answer is read in the same shape under any name of its list', () => {
  const response = readResponse('{"returnCode":"Record","Consumers":[{"consumerId":"C1","x":1}]}');
  assert.deepEqual(response, { returnCode: 'Record', applicants: [{ consumerId: 'C1', x: 1 }] });
  assert.equal(readResponse('not JSON'), null);
});

// Return codes

test('No Record is read as noRecord, without a reference', () => {
  const returnCode = 'No Record';
  const answer = read({ returnCode, applicants: [{ applicantId: '1A' }] });
  assert.deepEqual(answer, { kind: 'outcome', outcome: 'noRecord', returnCode });
  assert.deepEqual(read({ returnCode }), answer);
});

// Interface 7.3: the complete list of codes is not shown.
for (const returnCode of ['Suppress', 'Exempt', 'Error', 'record', 'Record ', 'NoRecord', 'toString', '__proto__']) {
  test(`the unknown return code ${JSON.stringify(returnCode)} is left to an operator`, () => {
    assert.deepEqual(read({ ...record([]), returnCode }), { kind: 'returnCodeUnknown', returnCode });
    const [full] = JSON.parse(recordBody()).applicants;
    for (const entry of [{ applicantId: '1A' }, full]) {
      assert.deepEqual(read(record([entry], { returnCode })), { kind: 'returnCodeUnknown', returnCode });
      assert.equal(read(record([{ ...entry, returnCode }])).kind, 'returnCodeUnknown');
    }
  });
}

test('the profile can define or change the meaning of a return code', () => {
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

test('a report under a code without a record is held, in an entry or beside the entries', () => {
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

test('the consumerId of an answer without a record is kept, as 2.4 requires', () => {
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
  // 2.4 shows no applicantId, so nothing identifies the owners.
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

test('an answer without a return code or with an unprintable return code is held', () => {
  assertHold(read({ applicants: [] }), /returnCode is required/);
  assertHold(read({ returnCode: '' }), /returnCode is required/);
  assertHold(read({ returnCode: 7 }), /returnCode must be text/);
  assertHold(read({ returnCode: 'x'.repeat(41) }), /returnCode must be text/);
  assertHold(read({ returnCode: 'a\nb' }), /returnCode must be text/);
});

// References and consumers

test('a record with a missing or invalid reference number is held', () => {
  assertHold(read(recordBody([ADA], { reportReferenceNumber: undefined })), /reportReferenceNumber is required/);
  assertHold(read(recordBody([ADA], { reportReferenceNumber: 'x'.repeat(31) })), /reportReferenceNumber must be/);
  assertHold(read(recordBody([ADA], { reportReferenceNumber: 12 })), /reportReferenceNumber must be/);
  assertHold(read(recordBody([ADA], { reportReferenceNumber: 'a\u0000b' })), /reportReferenceNumber must be/);
});

test('an answer with several reference numbers is held', () => {
  const entry = { ...JSON.parse(recordBody()).applicants[0], reportReferenceNumber: 'RRN-0002' };
  assertHold(read(record([entry])), /must be the same in the whole answer/);
});

test('a record is held if a consumerId is missing, too long or the same for two applicants', () => {
  assertHold(read(record([{ applicantId: '1A', consumer: {} }])), /applicants\/0\/consumerId/);
  assertHold(read(record([{ applicantId: '1A', consumerId: 'x'.repeat(17) }])), /applicants\/0\/consumerId/);
  assertHold(read(record([{ applicantId: '1A', consumerId: 17 }])), /applicants\/0\/consumerId/);
  const same = [
    { applicantId: '1A', consumerId: 'C1' },
    { applicantId: '2A', consumerId: 'C1' },
  ];
  assertHold(read(record(same), contextOf([ADA, BEN])), /names two applicants/);
});

test('a record whose consumer is missing, empty or malformed is held', () => {
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

test('an answer is held if an applicant with a record and one without have the same consumerId', () => {
  const entries = [
    failsafeEntry({ ssn: ADA.ssn, consumerId: 'C1', returnCode: 'No Record' }),
    failsafeEntry({ ssn: BEN.ssn, consumerId: 'C1', returnCode: 'Record' }),
  ];
  assertHold(
    read({ consumers: entries }, failsafeContext([ADA, BEN])),
    /consumers\/1\/consumerId names two applicants/,
  );
});

test('an empty entry beside a record is read as noRecord, with a remark', () => {
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

// Echoes: a report (2.4) and a confirmation (2.7) have none, and the FAILSAFE sample (2.8) has no values

test('an answer that echoes the identifiers of another request is held', () => {
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

test('an echo that differs but names no other request leads to a remark', () => {
  const [entry] = JSON.parse(recordBody()).applicants;
  const answer = read(record([{ ...entry, customerId: 'house0001' }], { productCode: 'PQ' }));
  assert.deepEqual(answer.kind === 'outcome' && answer.remarks, [
    { path: '/productCode', rule: 'is not that of the request' },
    { path: '/applicants/0/customerId', rule: 'is not that of the request' },
  ]);
  assert.ok(!JSON.stringify(answer).includes('PQ') && !JSON.stringify(answer).includes('house'), 'never a value');
});

// SECONDUSE

test('a share counts as posted only if its return code is Record', () => {
  assert.equal(read({ returnCode: 'Record', reportReferenceNumber: 'SU-1' }, secondUseContext()).kind, 'outcome');
  const withEntries = record([{ applicantId: '1A' }, { consumerId: 'CONSUMER1' }]);
  assert.equal(read(withEntries, secondUseContext()).kind, 'outcome');
  for (const returnCode of ['No Record', 'Suppress', 'Exempt', 'Error']) {
    assert.deepEqual(read({ returnCode }, secondUseContext()), { kind: 'returnCodeUnknown', returnCode });
  }
});

test('no setting can give a share the outcome noRecord', () => {
  const context = secondUseContext({ returnCodes: { SECONDUSE: { 'No Record': 'noRecord', Posted: 'record' } } });
  assert.equal(read({ returnCode: 'No Record' }, context).kind, 'returnCodeUnknown');
  assert.equal(read({ returnCode: 'Posted', reportReferenceNumber: 'SU-1' }, context).kind, 'outcome');
});

test('a confirmation without a reference or for a consumer who was not shared is held', () => {
  assertHold(read({ returnCode: 'Record' }, secondUseContext()), /reportReferenceNumber is required/);
  const foreign = record([{ consumerId: 'SOMEBODYELSE' }]);
  assertHold(read(foreign, secondUseContext()), /must be one that was shared/);
});

test('a confirmation with the reference number of the shared report is held', () => {
  const own = { returnCode: 'Record', reportReferenceNumber: 'RRN-1' };
  assertHold(read(own, secondUseContext()), /must differ from the shared report's/);
  assertHold(read({ ...own, consumers: [{ reportReferenceNumber: 'RRN-1' }] }, secondUseContext()), /must differ/);
});

// FAILSAFE: its request has no applicantId (4.3), so nothing in an entry (2.8) identifies its applicant

test('a FAILSAFE answer for a single applicant yields outcome, reference number and consumerId', () => {
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

test('FAILSAFE entries with different outcomes are held if only the gateway’s own ids name the applicants', () => {
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
    // The interface has no SSN here, but an SSN identifies the applicant.
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
  test(`FAILSAFE entries that agree on ${returnCode} are read as unattributed`, () => {
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

test('a FAILSAFE record without a reference number is held', () => {
  const one = failsafeEntry({ returnCode: 'Record' });
  const { reportReferenceNumber: _, ...none } = one;
  assertHold(read({ consumers: [none] }, failsafeContext([ADA])), /reportReferenceNumber is required/);
  assert.deepEqual(consumersOf(read({ consumers: [one] }, failsafeContext([ADA]))), [
    { applicantId: '1A', consumerId: 'C1' },
  ]);
});

test('a consumerId that two FAILSAFE entries share is given to no applicant', () => {
  const same = [failsafeEntry({ ssn: ADA.ssn }), failsafeEntry({ ssn: BEN.ssn })];
  const answer = read({ consumers: same }, failsafeContext([ADA, BEN]));
  assert.deepEqual(answer.kind === 'outcome' && answer.applicants?.map(({ consumerId }) => consumerId), [
    undefined,
    undefined,
  ]);
  assert.deepEqual(answer.kind === 'outcome' && answer.unattributed, [{ consumerId: 'C1' }, { consumerId: 'C1' }]);
});

test('an unknown return code in a FAILSAFE entry is left to an operator', () => {
  const odd = [failsafeEntry(), failsafeEntry({ applicantId: '2A', returnCode: 'Suppress' })];
  const answer = read({ consumers: odd }, failsafeContext([ADA, BEN]));
  assert.deepEqual(answer, { kind: 'returnCodeUnknown', returnCode: 'Suppress' });
});

test('an answer whose entries contradict its top-level code is held', () => {
  const body = record([{ applicantId: '1A', consumerId: 'C1', returnCode: 'No Record' }]);
  assertHold(read({ ...body, returnCode: 'Record' }), /must agree with those of the entries/);
  assert.equal(read({ ...body, returnCode: 'No Record' }).kind, 'outcome');
});
