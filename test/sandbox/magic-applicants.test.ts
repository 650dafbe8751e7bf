import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applicant, Caller, type Json, json, pullReport, reportRequest, secondaryUse } from './caller.ts';

interface Listed {
  ssnLast4: string;
  fault: string;
}

/** Sends the same request several times and returns the statuses, 0 if there is no answer. */
async function statuses(caller: Caller, request: Json, times: number): Promise<number[]> {
  const all: number[] = [];
  for (let index = 0; index < times; index += 1) {
    all.push((await caller.post(request, { patienceMs: 2_000 })).status);
  }
  return all;
}

function of(...digits: string[]): Json {
  return reportRequest({ applicants: digits.map((lastFour, index) => applicant(lastFour, `${index + 1}A`)) });
}

for (const [digits, expected, posted] of [
  ['1403', [403, 403], 0],
  ['1307', [307, 307], 0],
  ['2503', [503, 200], 2],
  ['3408', [408, 200], 1],
  ['4007', [0, 200], 1],
  ['4008', [0, 200], 2],
  ['4503', [503, 200], 1],
  ['1234', [200, 200], 2],
] as const) {
  test(`an SSN that ends in ${digits} gets ${expected.join(', then ')} and posts ${posted} in total`, async (t) => {
    const caller = await Caller.start(t);
    assert.deepEqual(await statuses(caller, of(digits), 2), expected);
    assert.equal((await caller.inquiries()).length, posted);
  });
}

test('every redirect names the endpoint again, also one after posting', async (t) => {
  const caller = await Caller.start(t);
  for (const digits of ['1307', '2307', '3303']) {
    const { status, headers } = await caller.post(of(digits));
    assert.equal(status, Number(digits) % 1000);
    assert.match(String(headers.location), /request\?redirected=true$/, digits);
  }
});

test('an SSN that ends in 3401 gets 401 until the token is renewed', async (t) => {
  const caller = await Caller.start(t);
  const request = of('3401');
  assert.deepEqual(await statuses(caller, request, 2), [401, 401]);
  await caller.renewToken();
  assert.deepEqual(await statuses(caller, request, 1), [200]);
});

test('in a joint request the first applicant with a fault or another code decides', async (t) => {
  const caller = await Caller.start(t);
  assert.deepEqual(await statuses(caller, of('0001', '1403'), 1), [403]);
  const report = await pullReport(caller, '0404', '0405');
  assert.equal(report.returnCode, 'No Record');
});

for (const [digits, expected, posted] of [
  ['6400', [400, 400], 0],
  ['7503', [503, 200], 2],
  ['8429', [429, 200], 1],
  ['9008', [0, 200], 2],
] as const) {
  test(`an SSN that ends in ${digits} affects only SECONDUSE`, async (t) => {
    const caller = await Caller.start(t);
    const share = secondaryUse(await pullReport(caller, digits));
    assert.equal((await caller.inquiries()).length, 1);
    assert.deepEqual(await statuses(caller, share, 2), expected);
    assert.equal((await caller.inquiries()).length, 1 + posted);
  });
}

test('an SSN with the digits of a return code plus 5000 sets the return code of SECONDUSE', async (t) => {
  const caller = await Caller.start(t);
  for (const [digits, code] of [
    ['5001', 'Record'],
    ['5404', 'No Record'],
    ['5407', 'Error'],
    ['5408', 'Deferred'],
  ] as const) {
    const report = await pullReport(caller, digits);
    assert.equal(report.returnCode, 'Record');
    assert.equal(json(await caller.post(secondaryUse(report))).returnCode, code);
  }
});

test('each listed magic applicant causes its listed fault', async (t) => {
  const caller = await Caller.start(t);
  const faults = json(await caller.admin('GET', 'faults'));
  const listed = (faults.magicApplicants as Listed[]).filter(
    ({ ssnLast4, fault }) => /^4\d{3}$/.test(ssnLast4) && fault !== 'oversized' && fault !== 'largeReport',
  );
  assert.ok(listed.length > 30);
  await Promise.all(listed.map(({ ssnLast4 }) => caller.post(of(ssnLast4, ssnLast4), { patienceMs: 2_000 })));
  const struck = (await caller.requests()).map(({ fault }) => fault);
  assert.deepEqual(struck.sort(), listed.map(({ fault }) => fault).sort());
});

test('an SSN that ends in 0020 has a file that changes only between PREAPP and PRECLOSE', async (t) => {
  const caller = await Caller.start(t);
  const accountsOf = async (productCode: string, digits = '0020') => {
    const { applicants } = json(await caller.post({ ...of(digits), productCode })) as {
      applicants: { consumer: { accounts: Json[]; names: Json[]; addresses: Json[] } }[];
    };
    const { accounts = [], names = [], addresses = [] } = applicants[0]?.consumer ?? {};
    return { accounts, counts: [accounts.length, names.length, addresses.length] };
  };
  const [before, after] = [await accountsOf('PREAPP'), await accountsOf('PRECLOSE')];
  assert.deepEqual((await accountsOf('PREQUAL')).accounts, before.accounts);
  assert.deepEqual((await accountsOf('ACCTRVW')).accounts, after.accounts);
  const [accounts = 0, names = 0, addresses = 0] = before.counts;
  // An account has disappeared and another is new.
  assert.deepEqual(after.counts, [accounts, names + 1, addresses + 1]);
  assert.deepEqual(
    [before, after].map(({ accounts: listed }) => listed[1]?.statusCode),
    ['11', '13'],
  );
  assert.equal(after.accounts.at(-1)?.accountNumber, 'XXXXXXXXXXXX2026');
  assert.deepEqual(await accountsOf('PREAPP', '0001'), await accountsOf('PRECLOSE', '0001'));
});
