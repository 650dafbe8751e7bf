/** Tests that the table "Files that are read again" in docs/configuration.md is complete and true. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createCodecTokenVerifier } from '../../src/codec/access.ts';
import { loadClientSettings } from '../../src/config/client.ts';
import { loadConfig } from '../../src/config/config.ts';
import { findVariables } from '../../src/config/variables.ts';
import { createApiTokenVerifier } from '../../src/operations/caller.ts';
import { createKeyRing, WatchedKeyRing } from '../../src/protection/keys/key-ring.ts';
import { createConsentProofVerifier, createDecisionProofVerifier } from '../../src/protection/proofs.ts';
import { AUDIENCE, ISSUER, KEY_SET, token } from '../api/fixtures.ts';
import { CONSENT_KEYS, proved } from '../support/consent-proofs.ts';
import { DECISION_KEYS, signDecision } from '../support/decision-proofs.ts';
import { consentMessage } from '../support/journey-harness.ts';
import { newSigningKey } from '../support/signing-keys.ts';

const ROOT = new URL('../../', import.meta.url).pathname;

/** The variables in each line of the table, and when their files are read again. */
const ROWS = [
  ...(/^### Files that are read again$[\s\S]*?(?=^To rotate)/m
    .exec(readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8'))?.[0]
    .matchAll(/^\| (?<files>`.*?) \| (?<when>.*) \|$/gm) ?? []),
].map(({ groups = {} }) => ({
  variables: [...(groups.files ?? '').matchAll(/`([A-Z_…]+_FILE)`/g)].flatMap(([, name = '']) =>
    name.startsWith('…_') ? ['API', 'CODEC'].map((prefix) => name.replace('…', prefix)) : [name],
  ),
  when: groups.when ?? '',
}));

let directory: string;
let env: Record<string, string>;
const file = (name: string) => join(directory, name);

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-read-again-'));
  await createKeyRing(file('keys.json'));
  await createKeyRing(file('other-keys.json'));
  env = {
    GATEWAY_ENVIRONMENT: 'sandbox',
    GATEWAY_AUTH_URL: 'http://127.0.0.1:9',
    GATEWAY_BASE_URL: 'http://127.0.0.1:9',
    KEY_RING_FILE: file('keys.json'),
  };
});
after(() => rm(directory, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFile(file(name), text, { mode: 0o600 });
/** Puts a named pipe without a writer in the place of the file. */
async function replaceByPipe(name: string): Promise<void> {
  await rm(file(name));
  await promisify(execFile)('mkfifo', ['-m', '600', file(name)]);
}
const profileWith = (variable: string) =>
  loadConfig({ ...env, [variable]: file(variable) }).profiles.get('default') ?? assert.fail();
const OTHERS = (await newSigningKey('of-another')).keySet;

interface Case {
  /** The words of the table. */
  when: RegExp;
  contents: readonly [string, string];
  /** Opens the file as a program does at its start. Returns a function that reads the current content. */
  open(path: string): Promise<() => Promise<unknown>>;
  finds: readonly [unknown, unknown];
}

const ofKeys = (right: object, open: (path: string) => () => Promise<boolean>): Omit<Case, 'when'> => ({
  contents: [JSON.stringify(OTHERS), JSON.stringify(right)],
  open: async (path) => open(path),
  finds: [false, true],
});
const ofTokens = (verifier: typeof createApiTokenVerifier | typeof createCodecTokenVerifier): Omit<Case, 'when'> =>
  ofKeys(KEY_SET, (path) => {
    const verify = verifier({ jwks: { file: path }, issuer: ISSUER, audience: AUDIENCE }, 'sub');
    return async () =>
      verify(`Bearer ${await token()}`).then(
        () => true,
        () => false,
      );
  });

const CASES: Record<string, Case> = {
  GATEWAY_CLIENT_ID_FILE: {
    when: /^for each new token$/,
    contents: ['one\n', 'two\n'],
    async open() {
      const { credentials } = profileWith('GATEWAY_CLIENT_ID_FILE');
      return async () => (await credentials.read()).clientId;
    },
    finds: ['one', 'two'],
  },
  GATEWAY_CLIENT_SECRET_FILE: {
    when: /^for each new token$/,
    contents: ['one\n', 'two\n'],
    async open() {
      const { credentials } = profileWith('GATEWAY_CLIENT_SECRET_FILE');
      return async () => (await credentials.read()).clientSecret;
    },
    finds: ['one', 'two'],
  },
  CODEC_SERVER_TOKEN_FILE: {
    when: /^for each call$/,
    contents: ['one\n', 'two\n'],
    async open(path) {
      const client = { GATEWAY_ENVIRONMENT: 'sandbox', CODEC_SERVER_URL: 'http://127.0.0.1:9' };
      const { payloads } = loadClientSettings({ ...client, CODEC_SERVER_TOKEN_FILE: path });
      return async () => (payloads.kind === 'codecServer' ? payloads.access.readToken?.() : undefined);
    },
    finds: ['one', 'two'],
  },
  CONSENT_JWKS_FILE: {
    when: /^when they change$/,
    ...ofKeys(CONSENT_KEYS, (path) => {
      const verify = createConsentProofVerifier(path);
      return async () =>
        (await verify(await proved(consentMessage('J-1', { applicantId: '1A' })), new Date())).accepted;
    }),
  },
  DECISION_JWKS_FILE: {
    when: /^when they change$/,
    ...ofKeys(DECISION_KEYS, (path) => {
      const verify = createDecisionProofVerifier(path);
      const content = { action: 'abandon' } as never;
      return async () => {
        const proof = await signDecision(content);
        return (await verify({ content, proof, receivedAt: new Date().toISOString() }, 'proof')).accepted;
      };
    }),
  },
  API_JWKS_FILE: { when: /^when they change$/, ...ofTokens(createApiTokenVerifier) },
  CODEC_JWKS_FILE: { when: /^when they change$/, ...ofTokens(createCodecTokenVerifier) },
};

describe('a file that a variable names', () => {
  test('has exactly one row in the table of files that are read again', () => {
    // Temporal's envconfig library reads TEMPORAL_CONFIG_FILE.
    const variables = [...Object.keys(findVariables('sandbox')), 'TEMPORAL_CONFIG_FILE'].filter((name) =>
      name.endsWith('_FILE'),
    );
    const listed = ROWS.flatMap(({ variables: of }) => of);
    assert.deepEqual(variables.sort(), listed.toSorted());
  });

  test('has a case here unless it is read only at a restart', () => {
    const again = ROWS.filter(({ when }) => !/^at a restart/.test(when)).flatMap(({ variables }) => variables);
    assert.deepEqual([...Object.keys(CASES), 'KEY_RING_FILE'].sort(), again.toSorted());
  });

  for (const [variable, { when, contents, open, finds }] of Object.entries(CASES)) {
    test(`${variable} is read again ${when.source.replace(/^\^|\$$/g, '')}`, async () => {
      assert.match(ROWS.find(({ variables }) => variables.includes(variable))?.when ?? '', when);
      await write(variable, contents[0]);
      const read = await open(file(variable));
      assert.deepEqual(await read(), finds[0]);
      await write(variable, contents[1]);
      assert.deepEqual(await read(), finds[1]);
      // The read may fail or find nothing, but it must end.
      await replaceByPipe(variable);
      await read().catch(() => {});
    });
  }

  test('KEY_RING_FILE is read again when it changes', async (t) => {
    assert.equal(ROWS.find(({ variables }) => variables.includes('KEY_RING_FILE'))?.when, 'when it changes');
    await copyFile(file('keys.json'), file('ring.json'));
    await copyFile(file('other-keys.json'), file('next.json'));
    const keys = await WatchedKeyRing.open(file('ring.json'), { pollMs: 20 });
    t.after(() => keys.close());
    const before = keys.current('ledger').id;
    // `keys rotate` also replaces the file in one step.
    await rename(file('next.json'), file('ring.json'));
    // The timer of the key ring does not keep the process alive.
    while (keys.current('ledger').id === before) await delay(20);
    await replaceByPipe('ring.json');
    assert.equal(await keys.find('ledger', before), 'unknown');
    assert.equal(keys.lastReloadFailed, true);
  });
});
