import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { createChildEnvironment, createReadyVariables, writeFiles } from '../../src/local/dev/dev-variables.ts';
import { temporaryDirectory } from './fake-programs.ts';

const ADDRESSES = {
  temporalAddress: '127.0.0.1:7233',
  namespace: 'default',
  taskQueue: 'q',
  sandboxUrl: 'http://127.0.0.1:7280',
  dataDir: '/data',
};

const SHELL = {
  PATH: '/bin',
  LOG_LEVEL: 'DEBUG',
  EMPTY: '',
  LEDGER_ID: '',
  LEDGER_URL_FILE: 'sentinel',
  GATEWAY_CA_FILE: 'sentinel',
  GATEWAY_ENVIRONMENT: 'sentinel',
  GATEWAY_REHEARSAL: 'on',
  PAYLOAD_ENCRYPTION: 'off',
  CODEC_SERVER_URL: 'sentinel',
  TEMPORAL_API_KEY: 'sentinel',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  TEMPORAL_CLI_PATH: '/bin/temporal',
  GATEWAY_PROFILES_FILE: 'profiles.json',
};

test('a worker gets the gateway profiles of the shell, but no variables of another environment', () => {
  const child = createChildEnvironment(ADDRESSES, SHELL);
  assert.doesNotMatch(JSON.stringify(child), /sentinel/);
  assert.equal(child.PAYLOAD_ENCRYPTION, 'on');
  assert.equal(child.GATEWAY_PROFILES_FILE, resolve('profiles.json'));
  assert.equal(child.LOG_LEVEL, 'DEBUG');
});

test('a command beside `dev` gets the same profiles as the worker', () => {
  const { GATEWAY_PROFILES_FILE: found, ...rest } = createReadyVariables(ADDRESSES, {
    GATEWAY_PROFILES_FILE: 'profiles.json',
  });
  assert.equal(found, resolve('profiles.json'));
  assert.deepEqual(createReadyVariables(ADDRESSES, {}), rest);
});

test('the env file has every variable for a program to source, and only its owner can read it', async (t) => {
  const dataDir = await temporaryDirectory(t);
  const path = join(dataDir, 'env');
  await writeFile(path, 'a file of before', { mode: 0o644 });
  const variables: Record<string, string> = {
    ...createReadyVariables({ ...ADDRESSES, dataDir: "/it's/data $HOME" }, {}),
    EMPTY: '',
    CODEC_SERVER_URL: 'http://127.0.0.1:7281/a-path',
    API_URL: 'http://127.0.0.1:7282',
    API_TOKEN_FILE: "/it's/data/api-token",
  };
  const remove = await writeFiles(dataDir, variables, {});
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const sourced = execFileSync('bash', ['-c', `source '${path}' && env -0`], { env: { PATH: '/usr/bin:/bin' } });
  const found = new Map(
    String(sourced)
      .split('\0')
      .map((line) => line.split(/=(.*)/s, 2) as [string, string]),
  );
  for (const [name, value] of Object.entries(variables)) assert.equal(found.get(name), value, name);
  for (const name of ['TEMPORAL_ADDRESS', 'TASK_QUEUE', 'CODEC_SERVER_URL', 'API_URL', 'API_TOKEN_FILE'])
    assert.ok(found.get(name), name);
  await remove();
  await assert.rejects(stat(path), { code: 'ENOENT' });
});
