/** Checks tokens, scopes and reach for every operation. No worker runs: no test here needs its answer. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { type RunKind, toRunKey, toWorkflowId } from '../../src/model/run-key.ts';
import { OPERATIONS } from '../../src/operations/all-operations.ts';
import {
  isAboutRun,
  isMessage,
  listPathParameters,
  type Operation,
  type PathParameter,
} from '../../src/operations/operation.ts';
import { SCOPES } from '../../src/operations/scopes.ts';
import type { HttpAnswer } from '../support/http-call.ts';
import { token, useApi } from './fixtures.ts';

const { harness, api } = useApi(
  { limits: { burst: 1e9, perSecond: 1e9 } },
  { isWorkerStopped: true, begin: startRuns, end: endRuns },
);

/** One run of each kind under this id, of the profile `default` and the end user `EU123`. */
const THERE = `A-${randomUUID().slice(0, 8)}`;
const RUNS: Record<RunKind, [workflowType: string, input: object]> = {
  journey: ['lendingJourney', { journeyId: THERE, endUserCode: 'EU123' }],
  pull: ['creditReport', { pullId: THERE, endUserCode: 'EU123' }],
  share: ['shareReport', { shareId: THERE, endUserCode: 'EU9', report: { endUserCode: 'EU123', reference: {} } }],
  portfolio: ['portfolioReview', { reviewId: THERE, endUserCode: 'EU123' }],
};

async function startRuns(): Promise<void> {
  for (const [kind, [workflowType, input]] of Object.entries(RUNS)) {
    const workflowId = toWorkflowId(toRunKey(kind as RunKind, THERE));
    await harness.client.workflow.start(workflowType, { workflowId, taskQueue: 'nobody', args: [input] });
  }
}
async function endRuns(): Promise<void> {
  for (const kind of Object.keys(RUNS) as RunKind[]) {
    await harness.client.workflow.getHandle(toWorkflowId(toRunKey(kind, THERE))).terminate('the test is over');
  }
}

function sample(name: PathParameter, id: string): string {
  if (name === 'customerTraceNumber') return 'PQ'.padEnd(28, 'A');
  if (name === 'attempt') return '1';
  return name === 'productCode' ? 'PREQUAL' : id;
}

function pathOf({ path }: Operation, id = THERE): string {
  return listPathParameters(path).reduce<string>((so, name) => so.replace(`{${name}}`, sample(name, id)), path);
}

function called(route: Operation, bearer: string | null, id?: string): Promise<HttpAnswer> {
  const body = route.body ? { body: {} } : {};
  const headers = { 'x-request-id': 'R-1' };
  return api.call(pathOf(route, id), { method: route.method, token: bearer, headers, ...body });
}

const EXPIRED = Math.floor(Date.now() / 1000) - 60;

for (const route of OPERATIONS) {
  describe(`${route.operationId}`, () => {
    test('refuses a caller without a valid token for this API', async () => {
      const bad: [why: string, token: string | null][] = [
        ['noToken', null],
        ['tokenMalformed', 'not.a-token'],
        ['expired', await token({ expiresAt: EXPIRED })],
        ['audience', await token({ claims: { aud: 'codec-server' } })],
        ['issuer', await token({ claims: { iss: 'https://other.example.com' } })],
        ['signature', await token({ isForeign: true })],
      ];
      for (const [why, bearer] of bad) {
        const { status, json, headers } = await called(route, bearer);
        assert.deepEqual([status, json.code, headers.get('www-authenticate')], [401, why, 'Bearer'], why);
        assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/);
      }
    });

    test('refuses a token that lacks its scope, even if the token has other scopes', async () => {
      const others = Object.keys(SCOPES).filter((scope) => scope !== route.scope);
      for (const scopes of [others, []]) {
        const { status, json } = await called(route, await token({ scopes }));
        assert.deepEqual([status, json.code], [403, 'scope']);
      }
    });

    if (isAboutRun(route)) {
      test('answers a token that does not reach the run as it answers an unknown id', async () => {
        const far: [who: string, token: string][] = [
          ['another end user', await token({ endUsers: ['EU999'] })],
          ['the secondary user', await token({ endUsers: ['EU9'] })],
          ['another profile', await token({ profiles: ['other'] })],
          ['no claims', await token({ claims: { profiles: undefined, end_users: undefined } })],
        ];
        for (const [who, bearer] of far) {
          const foreign = await called(route, bearer);
          const unknown = await called(route, bearer, `U-${randomUUID().slice(0, 8)}`);
          assert.deepEqual([foreign.status, foreign.json.code], [404, 'notFound'], who);
          assert.equal(foreign.text, unknown.text, who);
          const told = ({ headers }: HttpAnswer) => [...headers].filter(([name]) => name !== 'date');
          assert.deepEqual(told(foreign), told(unknown), who);
        }
      });
    }
  });
}

test('the routes that a worker answers are the ones marked as messages, and no others', () => {
  const messages = OPERATIONS.filter(isMessage).map(({ operationId }) => operationId);
  // These are posted too, but Temporal or the ledger alone answers them.
  const others = [
    'startJourney',
    'startPull',
    'startShare',
    'startPortfolioReview',
    'markSeen',
    'markConsentsSeen',
    'beginPause',
    'endPause',
  ];
  const posted = OPERATIONS.filter(({ method }) => method !== 'GET').map((route) => route.operationId);
  assert.deepEqual(new Set([...messages, ...others]), new Set(posted));
});

test('a result is refused as resultNotReady for an open run, and as runFailed for a run that ended without one', async () => {
  const addresses = { journey: 'journeys', pull: 'pulls', share: 'shares', portfolio: 'portfolio-reviews' } as const;
  for (const kind of Object.keys(RUNS) as RunKind[]) {
    const [workflowType, input] = RUNS[kind];
    const id = `E-${randomUUID().slice(0, 8)}`;
    const workflowId = toWorkflowId(toRunKey(kind, id));
    const run = await harness.client.workflow.start(workflowType, { workflowId, taskQueue: 'nobody', args: [input] });
    const result = async () => {
      const { status, json } = await api.call(`/v1/${addresses[kind]}/${id}/result`);
      return [status, json.code];
    };
    assert.deepEqual(await result(), [409, 'resultNotReady'], kind);
    await run.terminate('a test');
    assert.deepEqual(await result(), [409, 'runFailed'], kind);
  }
});

test('the audit log records each refusal with its caller, route and reason, and without values', async () => {
  const from = api.lines.length;
  const bearer = await token({ scopes: ['journeys:start'], endUsers: ['EU999'], claims: { sub: 'auditor-1' } });
  await api.call(`/v1/journeys/${THERE}`, { token: bearer, headers: { 'x-request-id': 'R-9' } });
  const [line] = api.audited().slice(from);
  assert.deepEqual(
    { ...line, address: '' },
    {
      ...{ address: '', route: 'GET /v1/journeys/{journeyId}', requestId: 'R-9', subject: 'auditor-1' },
      ...{ issuer: 'https://issuer.example.com', status: 403, refused: 'scope' },
    },
  );
  assert.deepEqual(api.unexpected, []);
});
