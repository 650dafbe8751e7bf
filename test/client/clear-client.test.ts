/** Clients without a key refuse to connect, so that they send nothing in the clear. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadDataConverter } from '../../src/client/connection/connect.ts';
import { ConfigError } from '../../src/client.ts';
import { loadClientSettings } from '../../src/config/client.ts';

for (const [what, env] of [
  ['with encryption on', { PAYLOAD_ENCRYPTION: 'on' }],
  ['with encryption not configured', {}],
] as const) {
  test(`a client without a key, ${what}, starts nothing and names the variables to set`, async () => {
    const settings = loadClientSettings({ KEY_RING_FILE: join(tmpdir(), 'no-such-key-ring.json'), ...env });
    await assert.rejects(loadDataConverter(settings), (error) => {
      assert.ok(error instanceof ConfigError);
      const [problem, ...others] = error.problems;
      assert.deepEqual([problem?.variable, others], ['CODEC_SERVER_URL', []]);
      assert.match(problem?.rule ?? '', /KEY_RING_FILE.*PAYLOAD_ENCRYPTION/);
      return true;
    });
  });
}
