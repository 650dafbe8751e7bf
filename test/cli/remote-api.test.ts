/** Commands that call an HTTP API with a token instead of running in their own process. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createSampleJourney } from '../../src/cli/demo/sample-runs.ts';
import { startTestApi, type TestApi, type TokenParts, token } from '../api/fixtures.ts';
import {
  applicant,
  type Harness,
  journeyInput,
  newSsn,
  startHarness,
  untilStatus,
} from '../support/journey-harness.ts';
import { environmentOf } from './command-stage.ts';
import { runCli } from './run-cli.ts';

let harness: Harness;
let api: TestApi;
let tokenFile: string;

async function writeToken(name: string, parts: TokenParts = {}): Promise<string> {
  const file = join(harness.dataDir, name);
  await writeFile(file, `${await token(parts)}\n`);
  await chmod(file, 0o600);
  return file;
}

before(async () => {
  harness = await startHarness();
  api = await startTestApi(harness);
  tokenFile = await writeToken('token', { claims: { name: 'ann', sub: 'ann' } });
});
after(async () => {
  await api?.close();
  await harness?.close();
});

/** The environment of a command that knows only the API's address. */
function remote(args: readonly string[], file = tokenFile, url = api.url) {
  return runCli([...args, '--api', url, '--token-file', file], { env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
}

async function done(...args: string[]) {
  const { code, stdout, stderr } = await remote(args);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

describe('a command with --api', { concurrency: 4 }, () => {
  test('starts, reads, lists and messages a journey as a command without --api does', async () => {
    const journeyId = `J-${randomUUID()}`;
    assert.equal((await done('start', '--sample', '--journey-id', journeyId)).isNew, true);
    const file = join(harness.dataDir, `${journeyId}.json`);
    await writeFile(file, JSON.stringify(createSampleJourney({ journeyId, auto: false })));
    assert.equal((await done('start', '--file', file)).isNew, false);
    const other = await remote(['start', '--sample', '--auto', '--journey-id', journeyId]);
    assert.deepEqual([other.code, JSON.parse(other.stderr).error.type], [1, 'differs']);
    const status = await done('status', journeyId);
    assert.equal(status.journeyId, journeyId);
    // As `dev` prints the API's address.
    const withVersion = await remote(['status', journeyId], tokenFile, `${api.url}/v1`);
    assert.equal(withVersion.code, 0, withVersion.stderr);
    assert.equal((await done('advance', journeyId, '--to', 'PREAPP')).duplicate, false);
    assert.equal((await done('advance', journeyId, '--to', 'PREAPP')).duplicate, true);
    assert.ok(Array.isArray((await done('list', '--kind', 'journey', '--limit', '5')).data));
    assert.equal((await done('withdraw', journeyId, '--reason', 'a test')).accepted, true);
  });

  test('decides a hold in the name of the token’s subject', async () => {
    const applicants = [applicant('1A', newSsn('4002'))];
    const input = journeyInput({ stages: ['PREQUAL'], applicants });
    const journey = await harness.start(input);
    await untilStatus(journey, ({ state }) => state === 'held');
    const decision = ['--attempt', '1', '--action', 'abandon', '--provider-said', 'posted', '--reason', 'a test'];
    const { recorded, customerTraceNumber } = await done('resolve', input.journeyId, ...decision);
    assert.equal(recorded, true);
    const { data } = await api.expect(200, `/v1/audit/decisions?customerTraceNumber=${customerTraceNumber}`);
    assert.equal(data[0].by, 'ann');
  });

  test('reports a refusal of the API like a refusal of its own', async () => {
    const journeyId = `J-${randomUUID()}`;
    const missing = await remote(['status', journeyId]);
    assert.deepEqual([missing.code, JSON.parse(missing.stderr).error.type], [1, 'notFound']);
    await done('start', '--sample', '--journey-id', journeyId);
    const refused = await remote(['advance', journeyId, '--to', 'PREQUAL']);
    assert.equal(refused.code, 1);
    assert.match(JSON.parse(refused.stderr).error.message, /refused: .*no gate before PREQUAL/);
    const wrong = await remote(['advance', journeyId]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /"path":"\/to","rule":"is required","option":"--to"/);
    const narrow = await writeToken('narrow', { scopes: ['journeys:advance'] });
    const unread = await remote(['status', journeyId], narrow);
    assert.deepEqual([unread.code, JSON.parse(unread.stderr).error.type], [1, 'scope']);
    const foreign = await writeToken('foreign', { isForeign: true });
    const unknown = await remote(['status', journeyId], foreign);
    assert.deepEqual([unknown.code, JSON.parse(unknown.stderr).error.type], [1, 'signature']);
  });

  test('ends with the same cause and exit code as without --api', async () => {
    const [running, ended] = [`J-${randomUUID()}`, `J-${randomUUID()}`];
    for (const journeyId of [running, ended]) await done('start', '--sample', '--journey-id', journeyId);
    await done('withdraw', ended, '--reason', 'a test');
    const share = ['--share-id', 'S-9', '--report-of', 'PREQUAL', '--end-user-code', 'EU789'];
    const denial = ['--consent-id', 'C-1', '--decision', 'denied', '--end-user-code', 'EU456', '--share-id', 'S-1'];
    const why = ['--reason', 'a test', '--by', 'ann'];
    const env = environmentOf(harness);
    await runCli(['watch', ended], { env, cwd: harness.dataDir });
    for (const [cause, code, ...args] of [
      ['journeyFinished', 1, 'advance', ended, '--to', 'PREAPP'],
      ['shareAfterEnd', 1, 'share', ended, ...share, '--permissible-purpose-code', '02'],
      ['unknownPart', 1, 'consent', running, '--applicant-id', '9A', ...denial],
      ['inFuture', 1, 'consent', running, '--applicant-id', '1A', ...denial, '--decided-at', '2099-01-01T00:00:00Z'],
      ['notListed', 1, 'seen', 'run', running, '--flag', 'ssnMismatch', ...why],
      ['notFound', 1, 'status', `pull:${running}`],
      ['noReport', 1, 'report', running, 'PRECLOSE'],
      ['invalidInput', 2, 'advance', running],
    ] as const) {
      const remotely = args.filter((word, index) => word !== '--by' && args[index - 1] !== '--by');
      const [here, there] = await Promise.all([runCli([...args], { env, cwd: harness.dataDir }), remote(remotely)]);
      const told = [here, there].map((ran) => [ran.code, JSON.parse(ran.stderr).error.type]);
      assert.deepEqual(
        told,
        [
          [code, cause],
          [code, cause],
        ],
        `${args.join(' ')}: ${here.stderr}${there.stderr}`,
      );
    }
  });

  test('shows the decisions of resolve --all that were made before the API failed', async (t) => {
    const row = (index: number) => ({ runKey: `J-${index}`, customerTraceNumber: `PQ${index}`, attempt: 1 });
    const data = Array.from({ length: 150 }, (_, index) => ({ ...row(index), guide: { actions: [] } }));
    let batches = 0;
    const server = createServer(async (request, response) => {
      if (request.method === 'GET') return response.end(JSON.stringify({ data }));
      const { preview, inquiries } = JSON.parse(Buffer.concat(await request.toArray()).toString());
      if (!preview && ++batches > 1) return response.writeHead(503).end('{}');
      const result = preview ? 'decidable' : 'decided';
      return response.end(JSON.stringify({ inquiries: inquiries.map((one: object) => ({ ...one, result })) }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const decision = ['--action', 'abandon', '--provider-said', 'notPosted', '--reason', 'a test'];
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ran = await remote(
      ['resolve', '--all', '--failure-type', 'OutcomeUnknown', '--yes', ...decision],
      tokenFile,
      url,
    );
    assert.deepEqual([ran.code, JSON.parse(ran.stdout).inquiries.length], [1, 100]);
    assert.match(ran.stderr, /refuses it \(503\)/);
  });

  test('lists the ledger’s records as without --api, page by page', async () => {
    const journeyId = `J-${randomUUID()}`;
    await done('start', '--sample', '--journey-id', journeyId);
    const denial = ['--share-id', 'S-1', '--applicant-id', '1A', '--decision', 'denied', '--end-user-code', 'EU456'];
    for (const consentId of ['C-1', 'C-2']) await done('consent', journeyId, '--consent-id', consentId, ...denial);
    await done('withdraw', journeyId, '--reason', 'a test');
    const env = environmentOf(harness);
    await runCli(['watch', journeyId], { env, cwd: harness.dataDir });
    for (const args of [
      ['inquiries', '--run-key', journeyId, '--from', '2026-01-01', '--format', 'csv'],
      ['inquiries', '--run-key', journeyId, '--totals'],
      ['consents', '--run-key', journeyId, '--proofs'],
      ...['decisions', 'shares', 'disposals', 'accesses'].map((name) => [name, '--run-key', journeyId]),
      ['unmatched-consents'],
    ]) {
      const [here, there] = await Promise.all([runCli(args, { env, cwd: harness.dataDir }), remote(args)]);
      assert.deepEqual([there.code, there.stdout], [0, here.stdout], there.stderr);
    }
    assert.equal((await done('consents', '--run-key', journeyId)).data.length, 2);
    const wrong = await remote(['inquiries', '--product-code', 'X']);
    assert.match(wrong.stderr, /"option":"--product-code"/);
  });

  test('sends its token only over https or to this machine, follows no redirect, and prints no token', async (t) => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(request.url ?? '');
      if (request.url === '/elsewhere') response.end('{}');
      else if (request.url?.includes('J-2')) response.end('<html>');
      else response.writeHead(307, { location: '/elsewhere' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // Temporal's own port, for example, does not speak this protocol.
    const other = createTcpServer((socket) => socket.end('SENTINEL\r\n\r\n'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    t.after(() => other.close());
    const mute = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const broken = join(harness.dataDir, 'broken-token');
    await writeFile(broken, 'SENTINEL token\n');
    for (const [ran, code, said] of [
      [remote(['status', 'J-1'], tokenFile, 'http://api.example.com'), 2, /--api must be an https address/],
      [remote(['status', 'J-1'], tokenFile, 'nothing'), 2, /--api must be an https address/],
      [remote(['status', 'J-1'], broken), 2, /--api needs a token/],
      [remote(['status', 'J-1'], join(harness.dataDir, 'none')), 2, /\(ENOENT\)","option":"--token-file"/],
      [remote(['status', 'J-1'], harness.dataDir), 2, /must name a file with the API’s token: .*\(EISDIR\)/],
      [remote(['status', 'J-1'], tokenFile, url), 1, /is not the HTTP API: its answer \(307\) is not JSON/],
      [remote(['status', 'J-2'], tokenFile, url), 1, /is not the HTTP API/],
      // This port no client asks.
      [remote(['status', 'J-1'], tokenFile, 'http://127.0.0.1:1'), 1, /cannot be reached \(TypeError\)/],
      [remote(['status', 'J-1'], tokenFile, mute), 1, /cannot be reached \(TypeError\)/],
      [remote(['withdraw', 'J-1', '--by', 'ann', '--reason', 'a test']), 2, /--by cannot be used with --api/],
      [remote(['start', '--sample', '--watch']), 2, /--watch asks Temporal/],
    ] as const) {
      const { stdout, stderr, ...ended } = await ran;
      assert.deepEqual([ended.code, stdout], [code, ''], stderr);
      assert.match(stderr, said);
      assert.doesNotMatch(stderr, /SENTINEL|eyJ/);
    }
    assert.ok(!seen.includes('/elsewhere'));
  });
});
