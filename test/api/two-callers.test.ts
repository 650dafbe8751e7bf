import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { readAuthorization } from '../../src/cli/commands/programs/ledger-commands.ts';
import { MESSAGES } from '../../src/messages/all-messages.ts';
import { InvalidInputError } from '../../src/model/problems.ts';
import { RUNS_WITH_INQUIRIES } from '../../src/model/run-key.ts';
import { OPERATIONS } from '../../src/operations/all-operations.ts';
import { isAboutRun } from '../../src/operations/operation.ts';
import { reachFilter } from '../../src/operations/reach.ts';
import { applicant, consentMessage, journeyInput, newSsn } from '../support/journey-harness.ts';
import { type ApiCall, startTestApi, token, useApi } from './fixtures.ts';
import { until } from './until.ts';

/** Every list that is read in pages. A new list is included by itself. */
const LISTS = OPERATIONS.filter(({ method, path, query }) => {
  return method === 'GET' && !path.includes('{') && query !== undefined && Object.hasOwn(query.shape, 'after');
});

/** No other test has runs of these end users. */
const [MINE, THEIRS, SECONDARY] = ['1', '2', '3'].map((digit) => `EU${digit}X${randomUUID().slice(0, 8)}`) as [
  string,
  string,
  string,
];
/** Lists for which the runs of this test have no rows. They still must show nothing of the other caller. */
const WITHOUT_ROWS = ['portfolio-reviews', 'audit/decisions', 'audit/shares', 'audit/disposals'].map(
  (list) => `/v1/${list}`,
);

/** The end users of the two callers. Each has two runs of each kind. */
const OWN_CODES = [MINE, THEIRS];

const { harness, api } = useApi({ limits: { burst: 1e9, perSecond: 1e9 } }, { begin: startAll });
const tokens = new Map<string, string>();
const ids = new Map<string, string[]>(OWN_CODES.map((code) => [code, []]));

async function startAll(): Promise<void> {
  for (const code of OWN_CODES) tokens.set(code, await token({ profiles: ['default'], endUsers: [code] }));
  // The callers take turns, so that their rows are interleaved.
  for (const code of [...OWN_CODES, ...OWN_CODES]) await startEverything(code);
}
async function post(path: string, body: unknown): Promise<void> {
  const { status, text } = await api.call(path, { body });
  assert.ok(status === 201 || status === 202, text);
}

async function startEverything(endUserCode: string): Promise<void> {
  const id = `T-${randomUUID().slice(0, 13)}`;
  ids.get(endUserCode)?.push(id);
  const journey = { ...journeyInput({ stages: ['PREQUAL'], endUserCode }), journeyId: `${id}-journey` };
  await post('/v1/journeys', journey);
  const common = { productCode: 'CR', endUserCode, permissiblePurposeCode: '01' };
  await post('/v1/pulls', { ...common, pullId: `${id}-pull`, applicants: [applicant('1A', newSsn('0001'))] });
  await post('/v1/pulls', { ...common, pullId: `${id}-held`, applicants: [applicant('1A', newSsn('4002'))] });
  await api.until(`/v1/pulls/${id}-pull`, (json) => json.state === 'record');
  const read = await api.call(`/v1/runs/pull:${id}-pull/reports/CR`);
  assert.equal(read.status, 200, read.text);
  await post('/v1/shares', {
    shareId: `${id}-share`,
    report: { pullId: `${id}-pull`, productCode: 'CR' },
    ...{ endUserCode: SECONDARY, permissiblePurposeCode: '01' },
  });
  await api.until(`/v1/holds?runKey=pull:${id}-held`, (json) => json.data?.length > 0);
  await api.until(`/v1/journeys/${journey.journeyId}`, (json) => json.state === 'completed');
  await post(
    '/v1/consents',
    consentMessage(journey.journeyId, { applicantId: '1A', decision: 'denied', shareId: 'S-TYPO' }),
  );
  for (const list of ['journeys', 'pulls', 'shares']) {
    await until(async () => ((await api.call(`/v1/${list}?limit=200`)).text.includes(id) ? true : undefined));
  }
}

describe('two callers on one profile', () => {
  for (const { path, operationId } of LISTS) {
    test(`${operationId}: a page, its length and its cursor reveal nothing about the other caller's rows`, async () => {
      const others = ids.get(THEIRS) ?? [];
      const bearer = tokens.get(MINE) as string;
      let text = '';
      let pages = 0;
      for (let next = '', more = true; more; pages++) {
        const answer = await api.call(`${path}?limit=1${next}`, { token: bearer });
        assert.equal(answer.status, 200, answer.text);
        const [rows] = Object.values(answer.json).filter(Array.isArray);
        const follows: string | undefined = answer.json.next;
        if (follows !== undefined) assert.equal(rows?.length, 1, answer.text);
        text += answer.text + Buffer.from(follows ?? '', 'base64url').toString('latin1');
        next = `&after=${follows}`;
        more = follows !== undefined;
        assert.ok(pages < 100);
      }
      for (const id of others) assert.ok(!text.includes(id), text);
      assert.doesNotMatch(text, new RegExp(THEIRS));
      if (WITHOUT_ROWS.includes(path)) return;
      for (const id of ids.get(MINE) ?? []) assert.ok(text.includes(id), `${id} is not in ${text}`);
    });

    if (WITHOUT_ROWS.includes(path)) continue;

    test(`${operationId}: a cursor that is changed, of another caller or of another filter is answered 400`, async () => {
      const bearer = tokens.get(MINE) as string;
      const { json } = await api.call(`${path}?limit=1`, { token: bearer });
      const next: string = json.next;
      assert.equal(typeof next, 'string');
      const first = next.startsWith('A') ? 'B' : 'A';
      const filter = LISTS.find((list) => list.path === path)?.query?.shape ?? {};
      const calls: [string, string][] = [
        [first + next.slice(1), bearer],
        [`${next}!`, bearer],
        ['nonsense', bearer],
        [next, tokens.get(THEIRS) as string],
        [next, await token()],
        ...(Object.hasOwn(filter, 'open') ? ([[`${next}&open=true`, bearer]] as [string, string][]) : []),
        ...(Object.hasOwn(filter, 'productCode') ? ([[`${next}&productCode=CR`, bearer]] as [string, string][]) : []),
      ];
      for (const [after, caller] of calls) {
        assert.equal((await api.expect(400, `${path}?limit=1&after=${after}`, { token: caller })).code, 'after');
      }
    });
  }

  test('a cursor is good under a further token that lists the same end users in another order', async () => {
    const [first, second] = await Promise.all(
      [OWN_CODES, OWN_CODES.toReversed()].map((endUsers) => token({ profiles: ['default'], endUsers })),
    );
    const { next } = await api.expect(200, '/v1/inquiries?limit=1', { token: first as string });
    await api.expect(200, `/v1/inquiries?limit=1&after=${next}`, { token: second as string });
  });

  test('the visibility query excludes runs whose search attributes name another end user', async () => {
    const reach = { profiles: new Set(['default']), endUsers: new Set([MINE]) };
    const found: string[] = [];
    const ours = ids.get(MINE) ?? [];
    const query = [`TaskQueue = '${harness.config.taskQueue}'`, RUNS_WITH_INQUIRIES, ...reachFilter(reach)].join(
      ' AND ',
    );
    for await (const { workflowId } of harness.client.workflow.list({ query })) found.push(workflowId);
    for (const id of ours)
      for (const kind of ['journey', 'pull']) assert.ok(found.some((name) => name.startsWith(`${kind}-${id}`)));
    for (const name of found) assert.ok(ours.some((id) => name.includes(id)) || name.startsWith('share-'), name);
    // A quote in a name cannot end the string of the query.
    assert.deepEqual(reachFilter({ profiles: '*', endUsers: new Set(["EU' OR ''='"]) }), []);
  });

  test('waiting runs are listed for their own end user, and a share is not listed for its secondary user', async () => {
    const secondary = await token({ profiles: ['default'], endUsers: [SECONDARY] });
    const waiting = async (bearer: string | undefined, query: string) => {
      const { json } = await api.call(`/v1/runs?${query}`, { token: bearer as string });
      return json.data.map(({ runKey }: { runKey: string }) => runKey).toSorted();
    };
    for (const [query, nameRun] of [
      ['waitsFor=consents', (id: string) => `share:${id}-share`],
      ['open=true&needsAttention=true', (id: string) => `pull:${id}-held`],
    ] as const) {
      assert.deepEqual(await waiting(secondary, query), []);
      for (const code of OWN_CODES) {
        assert.deepEqual(await waiting(tokens.get(code), query), (ids.get(code) ?? []).map(nameRun).toSorted());
      }
    }
  });
});

/** Every other operation about an existing run, except reviews, which have their own test. New operations are included. */
const ASKING = OPERATIONS.filter(({ operationId, path }) => {
  return (
    !path.startsWith('/v1/portfolio-reviews') &&
    !['startJourney', 'startPull', 'startPortfolioReview'].includes(operationId)
  );
});

/** Pairs an id of the other caller with an unknown id of the same length, for each parameter. */
async function nameThings(): Promise<Map<string, [theirs: string, nobodys: string]>> {
  const [id = ''] = ids.get(THEIRS) ?? [];
  const nobody = `T-${randomUUID().slice(0, 13)}`;
  const { json } = await api.call(`/v1/inquiries?runKey=pull:${id}-pull`);
  const [{ customerTraceNumber }] = json.data;
  const { reportReferenceNumber } = (await api.call(`/v1/runs/pull:${id}-pull/references`)).json.references[0]
    .reference;
  const change = (text: string) => text.slice(0, -6) + [...text.slice(-6)].toReversed().join('');
  return new Map([
    ['journeyId', [`${id}-journey`, `${nobody}-journey`]],
    ['pullId', [`${id}-pull`, `${nobody}-pull`]],
    ['shareId', [`${id}-share`, `${nobody}-share`]],
    ['runKey', [`pull:${id}-pull`, `pull:${nobody}-pull`]],
    ['q', [`${id}-pull`, `${nobody}-pull`]],
    ['customerTraceNumber', [customerTraceNumber, change(customerTraceNumber)]],
    ['reportReferenceNumber', [reportReferenceNumber, change(reportReferenceNumber)]],
    ['productCode', ['CR', 'CR']],
    ['attempt', ['1', '1']],
  ]);
}

const SEEN = { decisionId: 'D-1', reason: 'a test' };
const MANY = { decisionId: 'D-1', action: 'abandon', providerSaid: 'notAsked', reason: 'a test' };
const PAUSE = { profile: 'default', reason: 'a test' };

/** The bodies of operations that find their run by the body. Other operations check the reach before they read a body. */
const BODIES: Record<string, (name: (parameter: string) => string) => object> = {
  beginPause: () => PAUSE,
  endPause: () => PAUSE,
  markSeen: () => SEEN,
  markConsentsSeen: (name) => ({ runKey: name('journeyId'), reason: 'a test' }),
  startShare: (name) => ({
    ...{ shareId: `${name('pullId')}-S`, endUserCode: MINE, permissiblePurposeCode: '01' },
    report: { pullId: name('pullId'), productCode: 'CR' },
  }),
  recordConsent: (name) =>
    consentMessage(name('journeyId'), { applicantId: '1A', consentId: 'C-1', decision: 'denied' }),
  decideMany: (name) => ({ ...MANY, inquiries: [inquiryNamed(name)] }),
};

function inquiryNamed(name: (parameter: string) => string): object {
  return { runKey: name('runKey'), customerTraceNumber: name('customerTraceNumber'), attempt: 1 };
}

describe('another caller’s run is answered like an unknown run', () => {
  let things: Awaited<ReturnType<typeof nameThings>>;
  before(async () => {
    things = await nameThings();
  });
  after(() => {
    assert.deepEqual(api.unexpected, []);
  });

  /** Asks for things of the other caller and for unknown things. The answers must be the same but for the names. */
  async function assertAlike(path: string, makeCall: (name: (parameter: string) => string) => [string, ApiCall?]) {
    const answers = [];
    for (const nth of [0, 1] as const) {
      const name = (parameter: string) =>
        things.get(parameter)?.[nth] ?? assert.fail(`name what the other has for ${parameter}`);
      const [target, call] = makeCall(name);
      const headers = { 'x-request-id': 'R-1' };
      const answer = await api.call(target, { ...call, token: tokens.get(MINE) as string, headers });
      assert.doesNotMatch(answer.text, new RegExp(THEIRS));
      const text = [...things.values()].reduce((left, pair) => left.replaceAll(pair[nth], pair[1]), answer.text);
      answers.push({
        status: answer.status,
        headers: [...answer.headers].filter(([header]) => header !== 'date'),
        // The time at which a list was read differs.
        text: text.replaceAll(/"asOf":"[^"]*"/g, ''),
      });
    }
    const [theirs, nobodys] = answers;
    assert.deepEqual(theirs, nobodys, path);
    return theirs?.status;
  }

  for (const { method, path, operationId, query } of ASKING) {
    const isOfRun = isAboutRun({ path });
    const makePath = (name: (parameter: string) => string) =>
      path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(name(parameter)));
    if (method !== 'GET') {
      test(`${operationId}: an id in its path and its body`, async () => {
        const makeBody = BODIES[operationId] ?? (isOfRun ? () => ({}) : assert.fail(`a body for ${operationId}`));
        const status = await assertAlike(path, (name) => [makePath(name), { method, body: makeBody(name) }]);
        const expected: Record<string, number> = {
          ...{ decideMany: 200, startShare: 403 },
          // A pause stops every end user's inquiries.
          ...{ beginPause: 403, endPause: 403 },
        };
        assert.equal(status, expected[operationId] ?? 404);
      });
      continue;
    }
    if (path.includes('{')) {
      test(`${operationId}: an id in its path`, async () => {
        assert.equal(await assertAlike(path, (name) => [makePath(name)]), 404);
      });
      continue;
    }
    for (const parameter of ['runKey', 'customerTraceNumber', 'reportReferenceNumber', 'q']) {
      if (!Object.hasOwn(query?.shape ?? {}, parameter)) continue;
      test(`${operationId}: an id in the parameter ${parameter}`, async () => {
        await assertAlike(path, (name) => [`${path}?${parameter}=${name(parameter)}`]);
      });
    }
  }
});

describe('requests of any caller', () => {
  test('a caller that sends bodies slowly delays no other caller', async (t) => {
    const dripping = await startTestApi(harness, { limits: { requestTimeoutMs: 60_000 } });
    const bearer = await token({ claims: { sub: 'dripping' } });
    const lines = `host: x\r\nauthorization: Bearer ${bearer}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n`;
    const said: string[] = [];
    // These are twice as many as the caller has places for, and more than all slots.
    const sockets = Array.from({ length: 160 }, (_, index) => {
      const socket = connect(dripping.port, '127.0.0.1');
      socket.on('error', () => {});
      said[index] = '';
      socket.on('data', (chunk) => {
        said[index] = `${said[index]}${chunk}`;
      });
      socket.write(`POST /v1/consents HTTP/1.1\r\n${lines}\r\n`);
      return socket;
    });
    const drops = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write(' ');
    }, 100);
    t.after(async () => {
      clearInterval(drops);
      for (const socket of sockets) socket.destroy();
      await dripping.close();
    });
    await sleep(500);
    for (let sent = 0; sent < 10; sent++) {
      const body = consentMessage(`T-${randomUUID().slice(0, 8)}`, { applicantId: '1A', decision: 'denied' });
      await dripping.expect(202, '/v1/consents', { body });
    }
    assert.equal(said.join(''), '', 'none of its bodies was given up meanwhile');
    assert.deepEqual(dripping.unexpected, []);
  });

  test('a NUL in a query is answered 422 with the name of its parameter', async () => {
    for (const { method, path, query } of OPERATIONS) {
      if (method !== 'GET' || path.includes('{')) continue;
      for (const name of Object.keys(query?.shape ?? {})) {
        const { status, json, text } = await api.call(`${path}?${name}=A%00B`);
        assert.equal(status, 422, `${path} ${name}: ${text}`);
        assert.ok(
          json.problems.some((problem: { path: string }) => problem.path === `/${name}`),
          text,
        );
      }
    }
  });

  test('a NUL in a body is answered 422 with the path of its member, at any depth', async () => {
    for (const { method, path, body } of OPERATIONS) {
      const forms = body instanceof z.ZodUnion ? body.options : [body];
      for (const name of new Set(
        forms.flatMap((form) => Object.keys((form as z.ZodObject | undefined)?.shape ?? {})),
      )) {
        for (const value of ['A\0B', [{ deep: ['A\0B'] }], { 'A\0B': 1 }]) {
          const target = path.replaceAll(/\{\w+\}/g, 'T-1');
          const { status, json, text } = await api.call(target, { method, body: { [name]: value } });
          if (status === 404) continue;
          assert.equal(status, 422, `${path} ${name}: ${text}`);
          assert.ok(
            json.problems.some((problem: { path: string }) => problem.path === `/${name}`),
            text,
          );
        }
      }
    }
  });

  test('a refusal of an unknown query parameter names it, unless its name may hold a value', async () => {
    const { json } = await api.call('/v1/holds?kinds=held&limit=1');
    const [problem, ...others] = json.problems;
    assert.deepEqual([problem.path, problem.parameter, others.length], ['/kinds', 'kinds', 0]);
    assert.match(problem.rule, /^is no parameter; known are limit, after, kind, /);
    const ssn = await api.call('/v1/session?900-12-3456=1');
    assert.deepEqual(ssn.json.problems, [{ path: '', rule: 'takes no query' }]);
  });

  test('a refusal of an unknown member names only members that a body may have', async () => {
    for (const { method, path, body } of OPERATIONS) {
      if (!body) continue;
      const { json, text } = await api.call(path.replaceAll(/\{\w+\}/g, 'T-1'), { method, body: { surprise: 1 } });
      const [, known] = /has an unknown field; known are ([\w, ]+)/.exec(text) ?? [];
      if (json.code === 'notFound') continue;
      const given = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
      const listed = known?.split(', ') ?? assert.fail(`${path}: ${text}`);
      assert.deepEqual(
        listed.filter((name) => name === 'by' || given.includes(name)),
        [],
        path,
      );
      assert.ok(listed.length > 0);
    }
  });

  test('an actor’s name with hidden characters is refused in tokens, messages and authorizations', async () => {
    for (const hidden of ['\u202e', '\u200b', '\u2066', '\ufeff', '\u00ad', '\0']) {
      const sub = `ops${hidden}7`;
      assert.equal(
        (
          await api.expect(403, '/v1/journeys/T-1/withdrawal', {
            token: await token({ claims: { sub } }),
            body: { reason: 'x' },
          })
        ).code,
        'by',
      );
      assert.notEqual(MESSAGES.withdrawJourney.findProblem({ journeyId: 'J-1', by: sub, reason: 'x' }), null);
      assert.throws(() => readAuthorization({ by: sub, reason: 'x' }), InvalidInputError);
    }
    assert.equal(MESSAGES.withdrawJourney.findProblem({ journeyId: 'J-1', by: 'Zoë ops', reason: 'x' }), null);
  });

  test('an id of over 100 characters reaches its operation', async () => {
    const ask = async (runKey: string) => {
      const { status, json } = await api.call(`/v1/runs/${encodeURIComponent(runKey)}/story`);
      return [status, json.code];
    };
    const long = `portfolio:${'r'.repeat(60)}/${'a'.repeat(60)}`;
    assert.deepEqual(await ask(long), await ask('unknown-run'));
  });
});
