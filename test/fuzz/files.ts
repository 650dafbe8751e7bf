/** Files that an operator writes, with things wrong in them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { loadConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/model/problems.ts';
import { KeyRingError } from '../../src/protection/errors.ts';
import { readKeyRing } from '../../src/protection/keys/key-ring.ts';
import { readKeySet } from '../../src/protection/proofs.ts';
import {
  type ByteMutation,
  byteMutations,
  changedBytes,
  changedText,
  type TreeMutation,
  treeMutations,
} from './mutations.ts';
import { KEY_SET, openProofs } from './proofs.ts';
import { type OpenTarget, property } from './property.ts';
import { assertNothingPersonal, assertSafeError } from './sentinel.ts';
import { usually } from './values.ts';

const SECRET = randomBytes(32).toString('base64');

const KEY_RING = {
  version: 1,
  keys: [
    { id: 'payload-1', use: 'payload', createdAt: '2026-01-01T00:00:00Z', status: 'current', secret: SECRET },
    { id: 'ledger-1', use: 'ledger', createdAt: '2026-01-01T00:00:00Z', status: 'current', secret: SECRET },
    {
      id: 'old',
      use: 'payload',
      createdAt: '2026-01-01T00:00:00Z',
      status: 'retired',
      wrapped: 'AAAA',
      kms: 'aws-kms:alias/x',
    },
  ],
  refused: ['payload-0'],
};

const PROFILES = {
  credentials: { east: { clientIdVariable: 'EAST_ID', clientSecretVariable: 'EAST_SECRET' } },
  profiles: {
    default: {
      allowed: { SECONDUSE: { permissiblePurposeCodes: ['05'] } },
      returnCodes: { CR: { Suppress: 'noReport' } },
    },
    east: {
      environment: 'sandbox',
      customerId: 'EAST1',
      credentials: 'east',
      timeZone: 'America/New_York',
      limits: { connections: 9, maxResponseBytes: 10_000_000 },
      notProcessedStatuses: [401],
    },
  },
};

interface FileCase {
  tree: TreeMutation[];
  bytes: ByteMutation[];
}

function fileCases(keys: readonly string[]): fc.Arbitrary<FileCase> {
  return fc.record({
    tree: treeMutations(keys, 3),
    bytes: usually([], 3, byteMutations(2)),
  });
}

export function openFiles(): OpenTarget {
  const directory = mkdtempSync(join(tmpdir(), 'fuzz-files-'));
  const written = (valid: object, { tree, bytes }: FileCase): string => {
    const file = join(directory, 'file.json');
    writeFileSync(file, changedBytes(Buffer.from(changedText(valid, tree)), bytes), { mode: 0o600 });
    return file;
  };
  const keyRings = property({
    name: 'key-ring-files',
    weight: 1,
    cases: fileCases(['id', 'use', 'status', 'secret', 'wrapped', 'kms', 'refused', 'retiredAt']),
    check: async (value) => {
      const refused = await readKeyRing(written(KEY_RING, value)).then(
        () => null,
        (error: unknown) => error,
      );
      if (refused === null) return;
      assert.ok(refused instanceof KeyRingError, `${refused}`);
      assertSafeError(refused, 'the key ring');
      assert.ok(!`${refused.stack}`.includes(SECRET.slice(0, 12)), 'a secret in an error');
    },
  });
  const profiles = property({
    name: 'profiles-files',
    weight: 1,
    cases: fileCases([
      'environment',
      'customerId',
      'credentials',
      'limits',
      'allowed',
      'returnCodes',
      'baseUrl',
      'caFile',
      'east',
    ]),
    check: (value) => {
      const env = { GATEWAY_PROFILES_FILE: written(PROFILES, value), EAST_ID: 'id', EAST_SECRET: 'secret' };
      try {
        const config = loadConfig(env);
        for (const [name, profile] of config.profiles)
          assert.ok(/^[a-z][a-z0-9-]{0,30}$/.test(name) && profile.name === name);
      } catch (error) {
        assert.ok(error instanceof ConfigError, `${error}`);
        // Errors may print the operator's names of credentials and the gateway's codes if they have this form.
        const named = /\/(?:credentials|returnCodes\/[A-Z]+)\/[\x20-\x7e]{1,100}/;
        for (const { rule } of error.problems) assertNothingPersonal(rule.replace(named, ''), 'the configuration');
      }
    },
  });
  const keySets = property({
    name: 'key-set-files',
    weight: 1,
    cases: fileCases(['keys', 'kty', 'd', 'k', 'crv', 'x', 'n', 'e', 'kid']),
    check: (value) => {
      try {
        const { keys } = readKeySet(written(KEY_SET, value));
        assert.ok(keys.length > 0 && keys.every((key) => key.kty !== 'oct' && !('d' in key) && !('k' in key)));
      } catch (error) {
        assertSafeError(error, 'the key set');
        assert.match((error as Error).message, /key set must|keys of a key set/, 'words of our own');
      }
    },
  });
  return {
    properties: [keyRings, profiles, keySets, ...openProofs(directory)],
    close: async () => rmSync(directory, { recursive: true }),
  };
}
