import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Connection } from '@temporalio/client';
import { startTemporalServer } from '../../src/local/temporal/temporal-server.ts';
import { SEARCH_ATTRIBUTES } from '../../src/model/search-attributes.ts';

test('the development server has the search attributes and keeps its data across a restart', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'credit-journey-server-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  for (const run of ['first', 'second']) {
    const server = await startTemporalServer({ dataDir, headless: true });
    try {
      const connection = await Connection.connect({ address: server.address });
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
      assert.deepEqual(
        Object.keys(SEARCH_ATTRIBUTES).filter((name) => customAttributes?.[name] === undefined),
        [],
        run,
      );
      await connection.close();
    } finally {
      await server.stop();
    }
    assert.equal(server.uiUrl, undefined);
  }
  assert.ok((await readdir(dataDir)).includes('temporal.db'));
});

test('the UI has the address of the configured codec server', async () => {
  const uiCodecEndpoint = 'http://127.0.0.1:7281/unguessable';
  const server = await startTemporalServer({ uiCodecEndpoint });
  try {
    const settings = await (await fetch(`${server.uiUrl}/api/v1/settings`)).json();
    assert.equal((settings as { Codec: { Endpoint: string } }).Codec.Endpoint, uiCodecEndpoint);
  } finally {
    await server.stop();
  }
});

test('the error of a server that cannot start contains the end of its log', async () => {
  await assert.rejects(
    startTemporalServer({ headless: true, searchAttributes: { Broken: 'NoSuchType' } }),
    (error: Error) => /did not start/.test(error.message) && /NoSuchType/.test(error.message),
  );
});
