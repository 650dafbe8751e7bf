/**
 * Workers of two versions run on one ledger. The newer version's `setup` migrates it under load. The older worker stops
 * claiming and exits, no journey is lost, and each inquiry is posted once. docs/deploy.md, "Upgrading".
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { SCHEMA_VERSION } from '../../src/ledger/database/schema.ts';
import { buildNextVersion } from '../support/next-version.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { assertOwnRecord, assertSent, ENGINES, prequalOnly, startWorld, until } from '../support/process-world.ts';

const IN_TURN = 12;

let postgres: PostgresServer;
let tree: string;

describe('workers of two versions', { concurrency: 1 }, () => {
  before(async () => {
    tree = await buildNextVersion();
    postgres = await startPostgres();
  });
  after(async () => {
    await postgres?.stop();
    if (tree) await rm(tree, { recursive: true, force: true });
  });

  for (const engine of ENGINES) {
    test(`lose no journey and post none twice while the ledger is migrated; the older worker exits (${engine})`, async (t) => {
      const world = await startWorld(t, engine === 'PostgreSQL' ? { postgres } : {});
      const cli = join(tree, 'src/cli.ts');
      const older = await world.startWorker();
      await assert.rejects(world.startWorker({}, cli), /run `credit-journey setup` first/, 'it migrates nothing');

      const inputs = Array.from({ length: 3 * IN_TURN }, () => prequalOnly());
      const first = await Promise.all(inputs.slice(0, IN_TURN).map((input) => world.start(input)));
      await Promise.race(first.map((handle) => handle.result()));
      const second = inputs.slice(IN_TURN, 2 * IN_TURN).map((input) => world.start(input));
      const env = { ...process.env, NODE_OPTIONS: '', ...world.workerEnv };
      const { stderr } = await promisify(execFile)(process.execPath, [cli, 'setup', '--no-temporal', '--json'], {
        env,
      });
      assert.match(stderr, new RegExp(`version ${SCHEMA_VERSION} to ${SCHEMA_VERSION + 1}`));
      assert.equal(await world.ledger.mayWrite(), false);
      const third = inputs.slice(2 * IN_TURN).map((input) => world.start(input));
      await world.startWorker({}, cli);

      const handles = [...first, ...(await Promise.all([...second, ...third]))];
      await Promise.all(handles.map((handle) => assertOwnRecord(world, handle)));
      for (const { journeyId } of inputs) await assertSent(world, journeyId, { received: 1, posted: 1 });
      let exitCode: number | null | undefined;
      void older.ended.then((code) => {
        exitCode = code;
      });
      await until('the older worker has ended', async () => exitCode !== undefined);
      assert.equal(exitCode, 1);
      await assert.rejects(world.startWorker(), /run a newer one/);
    });
  }
});
