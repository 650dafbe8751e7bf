/**
 * A run that a token does not reach and an id that nobody knows: the same answer in every byte, for ids in paths and in
 * bodies. How long both take is measured and told; it fails no test, since a busy machine would.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  newSsn,
  startHarness,
} from '../support/journey-harness.ts';
import { type ApiCall, startTestApi, type TestApi, token } from './fixtures.ts';
import { until } from './until.ts';

let harness: Harness;
let api: TestApi;
let far: string;

const journey = journeyInput({
  stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'],
  applicants: [applicant('1A', newSsn('0001'))],
});
const pullId = `P-${randomUUID().slice(0, 8)}`;
const shareId = `S-${randomUUID().slice(0, 8)}`;
let trace: string;

before(async () => {
  harness = await startHarness();
  api = await startTestApi(harness, { limits: { burst: 100_000, perSecond: 100_000 } });
  far = await token({ profiles: ['default'], endUsers: ['ELSEWHERE'] });
  const pull = {
    ...{ pullId, productCode: 'CR', endUserCode: 'EU123', permissiblePurposeCode: '01' },
    applicants: [applicant('1A', newSsn('0001'))],
  };
  const report = { pullId, productCode: 'CR' };
  for (const [path, body] of [
    ['/v1/journeys', journey],
    ['/v1/pulls', pull],
    ['/v1/shares', { shareId, endUserCode: 'EU999', permissiblePurposeCode: '02', report }],
  ] as const) {
    if (path === '/v1/shares') await until(async () => endedOrNot(`/v1/pulls/${pullId}`));
    const { status, text } = await api.call(path, { body });
    assert.equal(status, 201, text);
  }
  trace = await until(async () => {
    const { json } = await api.call(`/v1/inquiries?ownerId=${journey.journeyId}`);
    return json.inquiries[0]?.customerTraceNumber;
  });
});
after(async () => {
  await api?.close();
  await harness?.close();
});

async function endedOrNot(path: string): Promise<true | undefined> {
  return (await api.call(path)).json.state === 'record' ? true : undefined;
}

interface Pair {
  foreign: [path: string, call?: ApiCall];
  unknown: [path: string, call?: ApiCall];
}

const UNKNOWN_TRACE = 'PQ'.padEnd(28, 'A');

function pairs(): Record<string, Pair> {
  const seen = { body: { decisionId: 'D-1', reason: 'a test' } };
  const runSeen = { body: { ...seen.body, flag: 'ssnMismatch' } };
  const consentOf = (id: string) => ({ body: consentMessage(id, { applicantId: '1A', consentId: 'C-1' }) });
  const ownerSeen = (ownerId: string) => ({ body: { ownerId, reason: 'a test' } });
  const one = { decisionId: 'D-1', action: 'abandon', providerSaid: 'notAsked', reason: 'a test' };
  const many = (ownerId: string) => ({
    body: { ...one, inquiries: [{ ownerId, customerTraceNumber: UNKNOWN_TRACE, attempt: 1 }] },
  });
  const { journeyId } = journey;
  return {
    'a journey': { foreign: [`/v1/journeys/${journeyId}`], unknown: ['/v1/journeys/U-1'] },
    'a pull': { foreign: [`/v1/pulls/${pullId}`], unknown: ['/v1/pulls/U-1'] },
    'a share of a pull': { foreign: [`/v1/shares/${shareId}`], unknown: ['/v1/shares/U-1'] },
    'a refusal': {
      foreign: [`/v1/inquiries/${trace}/attempts/1/refusal`],
      unknown: [`/v1/inquiries/${UNKNOWN_TRACE}/attempts/1/refusal`],
    },
    'what was seen': {
      foreign: [`/v1/inquiries/${trace}/seen`, seen],
      unknown: [`/v1/inquiries/${UNKNOWN_TRACE}/seen`, seen],
    },
    'a run seen': {
      foreign: [`/v1/runs/${journeyId}/seen`, runSeen],
      unknown: ['/v1/runs/U-1/seen', runSeen],
    },
    'a consent': { foreign: ['/v1/consents', consentOf(journeyId)], unknown: ['/v1/consents', consentOf('U-1')] },
    'consents seen': {
      foreign: ['/v1/unmatched-consents/seen', ownerSeen(journeyId)],
      unknown: ['/v1/unmatched-consents/seen', ownerSeen('U-1')],
    },
    'a decision about many': { foreign: ['/v1/decisions', many(journeyId)], unknown: ['/v1/decisions', many('U-1')] },
    'a preview': {
      foreign: ['/v1/decisions/preview', many(journeyId)],
      unknown: ['/v1/decisions/preview', many('U-1')],
    },
  };
}

function ask([path, call]: Pair['foreign']) {
  return api.call(path, { ...call, token: far, headers: { 'x-request-id': 'R-1' } });
}

describe('a foreign run and an unknown id', () => {
  test('are answered alike in every byte', async () => {
    for (const [what, { foreign, unknown }] of Object.entries(pairs())) {
      const [one, other] = await Promise.all(
        [foreign, unknown].map(async (asked) => {
          const { status, text, headers } = await ask(asked);
          return { status, text, headers: [...headers].filter(([name]) => name !== 'date') };
        }),
      );
      // In an answer about many the caller's own ids are repeated.
      const own = (text: string) => text.replaceAll(journey.journeyId, 'U-1');
      assert.ok(one && other && [200, 404].includes(one.status), `${what}: ${one?.text}`);
      const lengths = what.includes('decision about many') || what === 'a preview' ? ['content-length'] : [];
      const compared = ({ status, text, headers }: typeof one) => ({
        ...{ status, text: own(text) },
        headers: headers.filter(([name]) => !lengths.includes(name)),
      });
      assert.deepEqual(compared(one), compared(other), what);
    }
    assert.deepEqual(api.unexpected, []);
  });

  test('take about as long: told, and judged by nobody', async (t) => {
    for (const [what, { foreign, unknown }] of Object.entries(pairs())) {
      const times: { foreign: number[]; unknown: number[] } = { foreign: [], unknown: [] };
      for (let round = 0; round < 120; round++) {
        // Each goes first every other time.
        const order = [['foreign', foreign] as const, ['unknown', unknown] as const];
        for (const [which, asked] of round % 2 === 0 ? order : order.toReversed()) {
          const from = performance.now();
          await ask(asked);
          if (round >= 20) times[which].push(performance.now() - from);
        }
      }
      const [far, none] = [median(times.foreign), median(times.unknown)];
      t.diagnostic(`${what}: foreign ${far.toFixed(2)} ms, unknown ${none.toFixed(2)} ms`);
    }
  });
});

function median(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN;
}
