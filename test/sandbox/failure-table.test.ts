/** Tests the gateway client with the sandbox's magic applicants: each checks how the other reads the interface. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../src/gateway/errors.ts';
import { GatewayClient } from '../../src/gateway/gateway-client.ts';
import { buildFailsafeRequest } from '../../src/gateway/requests.ts';
import { applicant, profileFor, reportRequest, secondApplicant } from '../gateway/fixtures.ts';
import { Caller, freshTrace } from './caller.ts';

/** The result of a joint request by the SSN digits of both applicants, and the number of postings. */
const TABLE: Readonly<Record<string, { digits: readonly string[]; posted: number }>> = {
  TokenRejected: { digits: ['3401', '1401'], posted: 0 },
  Throttled: { digits: ['3429', '4429', '4430', '1429'], posted: 0 },
  NotEntitled: { digits: ['1403', '3403'], posted: 0 },
  RequestRefused: { digits: ['1400', '1404', '1405', '1413', '1415', '1422'], posted: 0 },
  'OutcomeUnknown, nothing posted': {
    digits: ['1307', '1503', '3408', '3503', '4001', '4003', '4007', '4503'],
    posted: 0,
  },
  'OutcomeUnknown, posted': {
    digits: ['2303', '2503', '4002', '4004', '4005', '4006', '4008', '4009', ...range(4013, 4019)],
    posted: 1,
  },
  // With 4044, both SSNs are masked and end in the same four digits.
  unexpectedResponse: { digits: [...range(4020, 4032), '4043', '4044'], posted: 1 },
  returnCodeUnknown: { digits: ['0405', '0406', '0407', '0408'], posted: 1 },
  record: { digits: ['0001', '4012', '4040', ...range(4045, 4048), ...range(4050, 4055)], posted: 1 },
  noRecord: { digits: ['0404'], posted: 1 },
};

function range(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
}

function applicants(digits: string) {
  return [applicant({ ssn: `91111${digits}` }), secondApplicant({ ssn: `91222${digits}` })];
}

async function outcome(submitted: ReturnType<GatewayClient['submit']>): Promise<string> {
  try {
    const { answer } = await submitted;
    return answer.kind === 'outcome' ? answer.outcome : answer.kind;
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error.code;
  }
}

for (const [row, { digits, posted }] of Object.entries(TABLE)) {
  test(`the gateway client reports the magic applicants of this row as ${row}`, async (t) => {
    const caller = await Caller.start(t);
    const accessToken = await caller.renewToken();
    const limits = { connections: 32, headersTimeoutMs: 1_000, bodyTimeoutMs: 1_000 };
    const profile = profileFor(caller.url, { limits });
    const client = new GatewayClient(profile);
    t.after(() => client.close());
    const sendBy = performance.now() + 5_000;
    const made = digits.map(async (lastFour) => {
      const changes = { customerTraceNumber: freshTrace(), applicants: applicants(lastFour) };
      const request = reportRequest(profile, changes);
      return [lastFour, await outcome(client.submit({ request, accessToken, sendBy }))];
    });
    const expected = row.split(',')[0];
    assert.deepEqual(
      await Promise.all(made),
      digits.map((lastFour) => [lastFour, expected]),
    );
    assert.equal((await caller.inquiries()).length, posted * digits.length);
    assert.equal((await caller.requests()).length, digits.length);
  });
}

test('the gateway client reads a FAILSAFE answer, although the request has no applicantId', async (t) => {
  const caller = await Caller.start(t);
  const accessToken = await caller.renewToken();
  const client = new GatewayClient(profileFor(caller.url));
  t.after(() => client.close());
  const expectedApplicants = applicants('0404');
  const request = buildFailsafeRequest({ customerTraceNumber: freshTrace(), applicants: expectedApplicants });
  const sendBy = performance.now() + 5_000;
  assert.equal(await outcome(client.submit({ request, accessToken, sendBy, expectedApplicants })), 'noRecord');
});
