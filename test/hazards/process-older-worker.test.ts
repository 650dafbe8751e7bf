/**
 * Workers of two versions on one ledger, which the newer version's `setup` migrates in the middle of a storm: the older one
 * stops claiming and ends by itself, no journey is lost, and each inquiry is posted once. docs/deploy.md, "Upgrading".
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { SCHEMA_VERSION } from '../../src/ledger/schema.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { assertOwnRecord, assertSent, ENGINES, prequalOnly, startWorld, until } from '../support/process-world.ts';

const ROOT = join(import.meta.dirname, '../..');
const IN_TURN = 12;

let postgres: PostgresServer;
let tree: string;

/** This very code, with one more version of the tables, which brings a fence. */
async function buildNextVersion(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-next-'));
  for (const name of ['src', 'sandbox', 'package.json', 'tsconfig.json']) {
    await cp(join(ROOT, name), join(directory, name), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'), 'dir');
  const schema = join(directory, 'src/ledger/schema.ts');
  let text = await readFile(schema, 'utf8');
  for (const [find, replace] of [
    ['  newFences,\n];', '  newFences,\n  () => [],\n];'],
    ['WITHOUT_OLDER_WRITERS: readonly number[] = [8]', 'WITHOUT_OLDER_WRITERS: readonly number[] = [8, 9]'],
  ] as const) {
    assert.equal(text.split(find).length, 2, find);
    text = text.replace(find, replace);
  }
  await writeFile(schema, text);
  return directory;
}

describe('workers of two versions', { concurrency: 1 }, () => {
  before(async () => {
    [postgres, tree] = await Promise.all([startPostgres(), buildNextVersion()]);
  });
  after(async () => {
    await postgres?.stop();
    if (tree) await rm(tree, { recursive: true, force: true });
  });

  for (const engine of ENGINES) {
    test(`migrated in a storm: no journey is lost, none is posted twice, the older worker ends (${engine})`, async (t) => {
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
