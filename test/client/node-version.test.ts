/** The client refuses a Node that is too old before it connects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallError, ConfigError, CreditJourneys } from '../../src/client.ts';

/** Connects under this version of Node to an address where no server listens. */
async function connectOn(node: string): Promise<unknown> {
  const { versions } = process;
  Object.defineProperty(process, 'versions', { value: { ...versions, node }, configurable: true });
  try {
    await using journeys = await CreditJourneys.connect({ address: '127.0.0.1:1', connectTimeoutMs: 100 });
    return journeys;
  } catch (error) {
    return error;
  } finally {
    Object.defineProperty(process, 'versions', { value: versions, configurable: true });
  }
}

test('connect refuses a Node that is too old, and accepts the oldest supported version', async () => {
  for (const version of ['20.20.2', '22.18.0']) {
    const refused = await connectOn(version);
    assert.ok(refused instanceof ConfigError, String(refused));
    assert.deepEqual(refused.problems, [
      { variable: 'Node.js', rule: `must be 22.19 or later: this program runs on ${version}` },
    ]);
  }
  for (const version of ['22.19.0', '24.0.0']) {
    // Whether the connection is refused or late is not the version's matter.
    assert.ok((await connectOn(version)) instanceof CallError, version);
  }
});
