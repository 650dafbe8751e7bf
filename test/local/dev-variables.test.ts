import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import {
  childEnvironment,
  commandVariables,
  readyVariables,
  unusedVariables,
} from '../../src/local/dev/dev-variables.ts';

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

test('`dev` names each variable that is set and that it does not use, without its value', () => {
  const unused = unusedVariables(commandVariables(ADDRESSES), SHELL);
  assert.deepEqual(unused, [
    'CODEC_SERVER_URL',
    'GATEWAY_CA_FILE',
    'GATEWAY_ENVIRONMENT',
    'GATEWAY_REHEARSAL',
    'LEDGER_URL_FILE',
    'PAYLOAD_ENCRYPTION',
    'TEMPORAL_API_KEY',
  ]);
});

test('what is named reaches no worker, and profiles do', () => {
  const child = childEnvironment(ADDRESSES, SHELL);
  assert.doesNotMatch(JSON.stringify(child), /sentinel/);
  assert.equal(child.PAYLOAD_ENCRYPTION, 'on');
  assert.equal(child.GATEWAY_PROFILES_FILE, 'profiles.json');
  assert.equal(child.LOG_LEVEL, 'DEBUG');
});

test('a command beside `dev` gets the profiles that its worker has', () => {
  const { GATEWAY_PROFILES_FILE: found, ...rest } = readyVariables(ADDRESSES, {
    GATEWAY_PROFILES_FILE: 'profiles.json',
  });
  assert.equal(found, resolve('profiles.json'));
  assert.deepEqual(rest, commandVariables(ADDRESSES));
  assert.deepEqual(readyVariables(ADDRESSES, {}), rest);
});
