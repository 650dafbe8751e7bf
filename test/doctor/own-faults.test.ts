import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Config } from '../../src/config/config.ts';
import {
  type Check,
  createContext,
  type DoctorContext,
  NotCheckedError,
  pass,
  runChecks,
} from '../../src/doctor/check.ts';
import { checkGateway } from '../../src/doctor/gateway-checks.ts';
import { clockCheck, holdsCheck } from '../../src/doctor/ledger-checks.ts';
import { searchAttributesCheck } from '../../src/doctor/temporal-checks.ts';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import { LedgerUnavailableError } from '../../src/ledger/errors.ts';

const CONFIG = { environment: 'production', taskQueue: 'q', worker: {}, payloadsAreEncrypted: true };

function contextWith(parts: Record<string, unknown>): DoctorContext {
  return { config: CONFIG, problems: [], ...parts } as unknown as DoctorContext;
}

async function findingOf(check: Pick<Check, 'run'>, context = contextWith({}), timeoutMs = 2_000) {
  const [found] = await runChecks([{ name: 'a-check', needs: ['X_'], ...check }], context, timeoutMs);
  return found ?? assert.fail();
}

/** Creates an error like those of the gRPC library. */
function refused(code: 7 | 14): Error {
  const name = { 7: 'PERMISSION_DENIED', 14: 'UNAVAILABLE' }[code];
  return Object.assign(new Error(`${code} ${name}: sentinel`), { code, details: 'sentinel', metadata: {} });
}

const bug = () => {
  throw new TypeError('sentinel is not a function');
};

const faults: [string, () => unknown, RegExp][] = [
  ['a bug in a check', bug, /^doctor could not check this: it failed \(TypeError\)$/],
  ['a thrown value that is not an error', () => Promise.reject('sentinel'), /it failed \(string\)$/],
  ['a server that denies permission', () => Promise.reject(refused(7)), /Temporal answered PERMISSION_DENIED$/],
  ['an unreachable server', () => Promise.reject(refused(14)), /Temporal answered UNAVAILABLE$/],
  [
    'an unreachable ledger',
    () => Promise.reject(new LedgerUnavailableError('the database refused (ECONNREFUSED)')),
    /the database refused \(ECONNREFUSED\)$/,
  ],
  [
    'a system error',
    () => Promise.reject(Object.assign(new Error('sentinel'), { code: 'EMFILE' })),
    /it failed \(EMFILE\)$/,
  ],
  ['a check that hangs', () => new Promise(() => {}), /did not end within 0\.2 s$/],
  ['an absent subject', () => Promise.reject(new NotCheckedError('there is none')), /: there is none$/],
];

for (const [what, run, told] of faults) {
  test(`doctor reports ${what} as not checked`, async () => {
    const found = await findingOf({ run: async () => (await run()) as never }, contextWith({}), 200);
    assert.equal(found.status, 'unchecked');
    assert.match(found.detail, told);
    assert.doesNotMatch(JSON.stringify(found), /sentinel/);
    assert.ok(found.toDo);
  });
}

test('a check is not made if a variable that it needs is wrong', async () => {
  const context = contextWith({ problems: [{ variable: 'X_ADDRESS', rule: 'is required' }] });
  const found = await findingOf({ run: async () => pass('fine') }, context);
  assert.equal(found.status, 'unchecked');
});

const unavailable = async () => {
  throw refused(14);
};

test('search attributes are not reported as missing if the server fails', async () => {
  const connection = { operatorService: { listSearchAttributes: unavailable } };
  const context = contextWith({ temporal: async () => ({ options: { namespace: 'n' }, connection }) });
  const found = await findingOf(searchAttributesCheck, context);
  assert.equal(found.status, 'unchecked', found.detail);
});

test('the check of holds counts the rows in the ledger', async () => {
  const look = async (content: object) => {
    const { status, detail } = await findingOf(holdsCheck, contextWith({ content: async () => content }));
    return [status, detail];
  };
  assert.deepEqual(await look({ needsPerson: 0 }), ['pass', 'nothing needs a person']);
  assert.deepEqual(await look({ needsPerson: 3 }), ['warn', '3 rows of the work queue']);
});

test('the check of holds is unchecked if the ledger has no tables that can be read', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-doctor-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  await writeFile(join(directory, 'ledger.db'), '');
  const config = { ...CONFIG, ledger: { url: `file:${join(directory, 'ledger.db')}` } };
  const found = await findingOf(holdsCheck, createContext(config as unknown as Config, [], 2_000));
  assert.deepEqual(
    [found.status, found.detail],
    ['unchecked', 'doctor could not check this: the ledger cannot be read'],
  );
});

for (const [aheadMs, status] of [
  [0, 'pass'],
  [3_600_000, 'warn'],
] as const) {
  test(`a ledger clock ${aheadMs} ms ahead of the local clock yields ${status}`, async () => {
    const [askedAtMs, answeredAtMs] = [Date.now(), Date.now()];
    const clock = { now: new Date(askedAtMs + aheadMs).toISOString(), askedAtMs, answeredAtMs };
    const found = await findingOf(clockCheck, contextWith({ ledger: async () => ({ clock }) }));
    assert.deepEqual(
      [found.status, found.detail],
      [status, `the ledger’s clock is ${aheadMs / 1000} s ahead of this machine’s clock`],
    );
  });
}

test('a certificate that doctor cannot use leaves the gateway unchecked', async () => {
  const profile = { name: 'default', baseUrl: 'https://127.0.0.1:1', apiVersion: 'v', caCertificate: 5, limits: {} };
  const check = checkGateway(profile as unknown as GatewayProfile);
  assert.equal((await findingOf(check)).status, 'unchecked');
});
