import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { profileFor } from './fixtures.ts';
import { clientFor } from './scripted-server.ts';

const NO_RECORD = JSON.stringify({ returnCode: 'No Record' });
const SERVER = `
  const server = require('node:http').createServer((_request, response) => response.end('${NO_RECORD}'));
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));
`;

test('a connection to one of several addresses may take as long as a lost packet costs', async (t) => {
  const server = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => server.kill('SIGKILL'));
  const [printed] = await once(server.stdout, 'data');
  const port = Number(String(printed));
  // While the process is stopped, the kernel takes a few connections, and drops the first packet of each further one.
  server.kill('SIGSTOP');
  for (const socket of Array.from({ length: 4 }, () => connect(port, '127.0.0.1'))) {
    socket.on('error', () => {});
    t.after(() => socket.destroy());
  }
  await delay(200);
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    // No server listens there.
    { address: '127.0.0.2', family: 4 },
  ];
  t.mock.method(dns, 'lookup', (_name: string, _options: object, found: (error: null, all: object[]) => void) =>
    found(null, addresses),
  );
  const { submit } = clientFor(
    t,
    profileFor(`http://gateway.example:${port}`, { limits: { connectTimeoutMs: 10_000 } }),
  );
  const reply = submit();
  await delay(400);
  server.kill('SIGCONT');
  assert.equal((await reply).answer.kind, 'outcome');
});
