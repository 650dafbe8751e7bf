import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const [COMMAND, SERVERS] = ['command.ts', 'programs/servers.ts'].map(
  (file) => pathToFileURL(`${import.meta.dirname}/../../src/cli/commands/${file}`).href,
);
const COMMANDER = import.meta.resolve('commander');

function run(t: TestContext, ...flags: string[]): ChildProcess {
  const script = `
    import { Command } from ${JSON.stringify(COMMANDER)};
    import { registerCommand } from ${JSON.stringify(COMMAND)};
    import { COMMANDS } from ${JSON.stringify(SERVERS)};
    const program = new Command('credit-journey');
    for (const row of COMMANDS) registerCommand(program, row);
    await program.parseAsync(process.argv);
  `;
  // The first argument after the script takes the place of the script's path.
  const args = ['--input-type=module', '--eval', script, '--', 'credit-journey', 'sandbox', ...flags];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

async function firstLine(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  const [line] = await once(createInterface(child.stdout), 'line');
  return String(line);
}

test('the sandbox command accepts its options, prints its address as a line of JSON, and stops at SIGINT', async (t) => {
  const child = run(t, '--port', '0', '--client-secret', 'other', '--seed', '9');
  const { url, port } = JSON.parse(await firstLine(child));
  assert.equal(url, `http://127.0.0.1:${port}`);
  const faults = await (await fetch(`${url}/_sandbox/faults`)).json();
  assert.equal((faults as { seed: number }).seed, 9);
  child.kill('SIGINT');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('the sandbox command refuses a port that is not a number before it starts', async (t) => {
  const child = run(t, '--port', 'x');
  const [code] = await once(child, 'exit');
  assert.notEqual(code, 0);
});

test('the sandbox command warns before it listens beyond this machine, and refuses to outside the sandbox environment', async (t) => {
  // No machine has this address, so nothing listens in the end.
  const warned = run(t, '--host', '192.0.2.1');
  assert.match(await text(warned.stderr as Readable), /^warning: the sandbox authenticates no caller/);
  process.env.GATEWAY_ENVIRONMENT = 'uat';
  t.after(() => {
    delete process.env.GATEWAY_ENVIRONMENT;
  });
  const refused = run(t, '--host', '192.0.2.1');
  const said = await text(refused.stderr as Readable);
  assert.match(said, /--host may be another machine’s address only in the sandbox environment/);
  assert.doesNotMatch(said, /warning/);
});
