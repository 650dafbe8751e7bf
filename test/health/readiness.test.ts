/** Tests `/healthz` and `/readyz` over a socket while each dependency of a worker fails in turn. */
import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  Readiness,
  type ReadinessCheck,
  readinessChecks,
  startHealthServer,
  type WorkerParts,
} from '../../src/health/readiness.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { freePorts } from '../../src/local/free-ports.ts';
import { createKeyRing, WatchedKeyRing } from '../../src/protection/keys/key-ring.ts';

async function served(t: TestContext, readiness: Readiness): Promise<string> {
  const [port = 0] = await freePorts(1);
  const server = await startHealthServer({ host: '127.0.0.1', port }, readiness);
  t.after(() => server.close());
  return `http://127.0.0.1:${port}`;
}

async function answered(url: string): Promise<[number, unknown]> {
  const answer = await fetch(url);
  return [answer.status, await answer.json()];
}

/** Creates the parts of a healthy worker, with its own ledger and key ring. */
async function partsOf(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-health-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const keyFile = join(directory, 'keys.json');
  const keyRing = await createKeyRing(keyFile);
  const keys = await WatchedKeyRing.open(keyFile);
  t.after(() => keys.close());
  const newLedger = async (name: string) => {
    const ledger = await openLedger({
      url: `file:${join(directory, name)}`,
      environment: 'sandbox',
      keyRing,
      create: true,
    });
    t.after(() => ledger.close());
    return ledger;
  };
  const state = {
    ...{ worker: 'RUNNING', startsAreUnreported: false, isTooOld: false, mayLoseClaims: false },
    server: async () => ({}) as never,
  };
  const parts = {
    workers: [{ getState: () => state.worker }, { getState: () => 'RUNNING' }],
    connection: {
      withDeadline: (_deadline: number, ask: () => Promise<unknown>) => ask(),
      workflowService: { getSystemInfo: () => state.server() },
    },
    ledger: await newLedger('ledger.db'),
    keys,
    gateways: new Map([
      [
        'default',
        {
          get startsAreUnreported() {
            return state.startsAreUnreported;
          },
        },
      ],
    ]),
    tooOld: {
      get aborted() {
        return state.isTooOld;
      },
    },
    mayLoseClaims: async () => state.mayLoseClaims,
  } as unknown as WorkerParts;
  return { state, parts, keys, keyFile, directory, newLedger };
}

/** Returns the problems of a new report, without cached results. */
async function wrong(parts: WorkerParts): Promise<Record<string, string>> {
  const readiness = new Readiness();
  readiness.set(readinessChecks(parts));
  const { ready, checks } = await readiness.report();
  const found = Object.entries(checks).flatMap(([name, check]) => (check.ok ? [] : [[name, check.reason]]));
  assert.equal(ready, found.length === 0);
  return Object.fromEntries(found);
}

test('a starting worker is alive but not ready, and reports what it waits for', async (t) => {
  const readiness = new Readiness();
  const url = await served(t, readiness);
  assert.deepEqual(await answered(`${url}/healthz`), [200, { status: 'ok' }]);
  const starting = { ready: false, checks: { polling: { ok: false, reason: 'is starting' } } };
  assert.deepEqual(await answered(`${url}/readyz`), [503, starting]);
  readiness.set({ polling: () => null, ledger: async () => null });
  const ready = { ready: true, checks: { polling: { ok: true }, ledger: { ok: true } } };
  assert.deepEqual(await answered(`${url}/readyz`), [200, ready]);
  assert.equal((await answered(`${url}/metrics`))[0], 404);
  for (const probe of ['healthz', 'readyz']) {
    assert.equal((await fetch(`${url}/${probe}`, { method: 'HEAD' })).status, 200);
  }
});

test('a check that throws or hangs fails by name, without the text of its error', async (t) => {
  const readiness = new Readiness(50);
  const url = await served(t, readiness);
  const hangs: ReadinessCheck = () => new Promise<never>(() => {});
  readiness.set({
    polling: () => null,
    ledger: () => Promise.reject(new Error('postgres://user:secret')),
    keys: hangs,
  });
  const [status, report] = await answered(`${url}/readyz`);
  assert.equal(status, 503);
  assert.deepEqual(report, {
    ready: false,
    checks: {
      polling: { ok: true },
      ledger: { ok: false, reason: 'does not answer' },
      keys: { ok: false, reason: 'does not answer in time' },
    },
  });
});

test('the error for a port in use names its variable', async (t) => {
  const url = await served(t, new Readiness());
  const port = Number(new URL(url).port);
  await assert.rejects(startHealthServer({ host: '127.0.0.1', port }, new Readiness()), /HEALTH_ADDRESS/);
});

test('a worker is not ready while any of its dependencies fails', async (t) => {
  const { state, parts, keys, keyFile, directory, newLedger } = await partsOf(t);
  assert.deepEqual(await wrong(parts), {});

  state.worker = 'STOPPING';
  assert.deepEqual(await wrong(parts), { polling: 'is stopping' });
  state.worker = 'RUNNING';

  state.server = () => Promise.reject(new Error('unavailable'));
  assert.deepEqual(await wrong(parts), { temporal: 'does not answer' });
  state.server = async () => ({}) as never;

  state.mayLoseClaims = true;
  assert.deepEqual(await wrong(parts), { ledger: 'can lose what it confirms: see `doctor`' });
  state.mayLoseClaims = false;

  state.startsAreUnreported = true;
  assert.deepEqual(await wrong(parts), { markers: 'are broken, and nothing is sent: default' });
  state.startsAreUnreported = false;

  assert.deepEqual(await wrong(parts), {});

  await writeFile(keyFile, '{"not": "a key ring"}');
  await keys.reload();
  assert.deepEqual(await wrong(parts), { keys: 'the key ring was changed into something that cannot be used' });
  const { ledger } = parts;
  await rename(join(directory, 'ledger.db'), join(directory, 'away.db'));
  assert.equal((await wrong(parts)).ledger, 'does not answer');
  const another = await newLedger('another.db');
  const lookUp = another.lookUp.bind(another);
  const restoreState = another.restoreState.bind(another);
  const asked = { identity: ledger.identity, lookUp, restoreState };
  assert.equal((await wrong({ ...parts, ledger: asked })).ledger, 'is not the one that the worker was started with');

  const { identity } = another;
  await another.watch(identity.ledgerId, { position: 9, claimedAt: new Date().toISOString() });
  const older = 'is an older copy, and nothing is sent until `ledger accept-restore`';
  assert.equal((await wrong({ ...parts, ledger: { identity, lookUp, restoreState } })).ledger, older);
  await another.acceptRestore(identity.ledgerId, { by: 'ops', reason: 'the disk was lost' });
  assert.equal((await wrong({ ...parts, ledger: { identity, lookUp, restoreState } })).ledger, undefined);
});

test('a worker that is too old for the ledger is not ready', async (t) => {
  const { parts, state } = await partsOf(t);
  assert.deepEqual(await wrong(parts), {});
  state.isTooOld = true;
  assert.deepEqual(await wrong(parts), { ledger: 'asks for newer workers' });
});
