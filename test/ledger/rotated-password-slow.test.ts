import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { SqlEngine } from '../../src/ledger/database/sql-session.ts';
import { openEngine } from '../../src/ledger/sql/open-ledger.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

let server: PostgresServer;
let admin: pg.Client;
let directory: string;
let address: URL;

before(async () => {
  server = await startPostgres();
  address = new URL(await server.url('rotated'));
  admin = new pg.Client({ connectionString: address.href });
  await admin.connect();
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-rotated-'));
});
after(async () => {
  await admin?.end();
  await server?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

function urlOf(user: string, password: string): string {
  const url = new URL(address);
  url.username = user;
  url.password = password;
  return url.href;
}

async function scene(user: string) {
  await admin.query(`CREATE ROLE ${user} LOGIN PASSWORD 'first'`);
  const file = join(directory, user);
  const write = async (text: string) => {
    await writeFile(file, `${text}\n`);
    await chmod(file, 0o600);
  };
  await write(urlOf(user, 'first'));
  const news: string[] = [];
  const engine = await openEngine({
    url: urlOf(user, 'first'),
    urlFile: file,
    onAddress: (text) => void news.push(text),
  });
  return { user, write, news, engine };
}

const pidOf = (engine: SqlEngine, holdMs = 0) =>
  engine.read(async (session) => {
    const [row] = await session.rows<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await delay(holdMs);
    return row?.pid ?? 0;
  });

/** Ends the idle connections, as their age does. */
const endConnections = (user: string) =>
  admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [user]);

test('a password that is rotated under load fails no transaction, and new connections use it', async () => {
  const { user, write, news, engine } = await scene('under_load');
  try {
    const failures: unknown[] = [];
    const pids = new Set<number>();
    let isOver = false;
    const load = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        await pidOf(engine, 2).then(
          (pid) => pids.add(pid),
          (error: unknown) => failures.push(error),
        );
      }
    });
    await delay(300);
    const before = new Set(pids);
    await admin.query(`ALTER ROLE ${user} PASSWORD 'second'`);
    await write(urlOf(user, 'second'));
    await delay(300);
    assert.deepEqual(pids, before, 'old connections live on');
    const more = await Promise.all(Array.from({ length: 4 }, () => pidOf(engine, 100)));
    isOver = true;
    await Promise.all(load);
    assert.deepEqual(failures, []);
    assert.ok(
      more.some((pid) => !before.has(pid)),
      'a new connection was made',
    );
    assert.deepEqual(news, ['the ledger’s new user or password is in use: LEDGER_URL_FILE has changed']);
  } finally {
    await engine.close();
  }
});

test('a wrong new password is told, and the old one goes on while it is good', async () => {
  const { user, write, news, engine } = await scene('wrong_new');
  try {
    await write(urlOf(user, 'a-typing-error'));
    await endConnections(user);
    await delay(50);
    assert.ok(await pidOf(engine));
    assert.match(news.join(), /refuses the new user or password in LEDGER_URL_FILE/);
    assert.doesNotMatch(news.join(), /typing|first/);
    await write(urlOf(user, 'first'));
  } finally {
    await engine.close();
  }
});

test('where both are wrong, the pool shares the connections that it has', async () => {
  const { user, write, news, engine } = await scene('both_wrong');
  try {
    const kept = await pidOf(engine);
    await admin.query(`ALTER ROLE ${user} PASSWORD 'second'`);
    const many = await Promise.all(Array.from({ length: 6 }, () => pidOf(engine, 20)));
    assert.deepEqual(new Set(many), new Set([kept]));
    assert.match(news.join(), /refuses the user or password that it took before/);
    await endConnections(user);
    await delay(50);
    await assert.rejects(pidOf(engine), /refuses the user or the password of LEDGER_URL \(28P01\)/);
    await write(urlOf(user, 'second'));
    assert.ok(await pidOf(engine), 'it goes on by itself once the file is right');
  } finally {
    await engine.close();
  }
});

test('another user of the same database is taken, another database is not', async () => {
  const { write, news, engine } = await scene('one_of_two');
  const whose = () =>
    engine.read(async (session) => {
      const [row] = await session.rows<{ who: string }>('SELECT current_user AS who');
      return row?.who;
    });
  try {
    await admin.query(`CREATE ROLE two_of_two LOGIN PASSWORD 'its-own'`);
    const elsewhere = new URL(urlOf('two_of_two', 'its-own'));
    elsewhere.pathname = '/postgres';
    await write(elsewhere.href);
    await endConnections('one_of_two');
    await delay(50);
    assert.equal(await whose(), 'one_of_two');
    assert.match(news.join(), /another server, database or option/);
    await write(urlOf('two_of_two', 'its-own'));
    await endConnections('one_of_two');
    await delay(50);
    assert.equal(await whose(), 'two_of_two');
  } finally {
    await engine.close();
  }
});
