/** Commands that use Temporal's SDK directly report an unreachable server, a refusal, and a missing namespace. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, test } from 'node:test';
import { NamespaceNotFoundError } from '@temporalio/common';
import { hasCode, TEMPORAL_AWAY, translateServerError } from '../../src/client/connection/errors.ts';
import { testServer } from '../support/temporal.ts';
import { runCli } from './run-cli.ts';

const COMMANDS = [['list'], ['webhooks', 'resend', '--all'], ['setup', '--no-ledger']];

async function errorOf(args: string[], env: Record<string, string>): Promise<{ type: string; message: string }> {
  const ran = await runCli([...args, '--json'], { env: { PAYLOAD_ENCRYPTION: 'off', ...env } });
  assert.ok(ran.code === 1 || ran.code === 2, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
  return (JSON.parse(ran.stderr) as { error: { type: string; message: string } }).error;
}

describe('each command that talks to Temporal', { concurrency: 2 }, () => {
  for (const args of COMMANDS) {
    test(`reports a missing namespace with the client's error: ${args.join(' ')}`, async () => {
      const { address } = await testServer();
      const elsewhere = await errorOf(args, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'never-registered' });
      // `setup` explains how to create the namespace.
      const isSetup = args[0] === 'setup';
      assert.equal(elsewhere.type, isSetup ? 'UsageError' : 'namespaceNotFound', elsewhere.message);
      assert.match(elsewhere.message, /has no (such )?namespace/);
    });
  }

  test('reports that no server answers at the address', async () => {
    const away = await errorOf(['list'], { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    assert.equal(away.type, 'connectionRefused');
    assert.match(away.message, /nothing answers at 127\.0\.0\.1:1/);
  });

  test('reports a TLS error if the server expects TLS or does not support it', async (t) => {
    const mute = createServer((socket) => socket.on('error', () => {}).end('not Temporal'));
    await once(mute.listen(0, '127.0.0.1'), 'listening');
    t.after(() => mute.close());
    const { port } = mute.address() as AddressInfo;
    const env = { TEMPORAL_ADDRESS: `localhost:${port}`, TEMPORAL_TLS: 'true' };
    const error = await errorOf(['list'], env);
    assert.match(error.type, /^tls/);
    assert.match(error.message, /TLS/);
  });
});

test('the error of a call about no run never mentions a worker, and other errors pass unchanged', () => {
  const status = (code: number, details = 'SENTINEL') => Object.assign(new Error('m'), { code, details, metadata: {} });
  for (const code of [1, 4, 14]) {
    const told = translateServerError(new Error('wrapped', { cause: status(code) }));
    assert.ok(hasCode(told, ...TEMPORAL_AWAY), String(code));
    assert.doesNotMatch(told.message, /SENTINEL|worker/);
  }
  const codes = [
    [status(7), 'permissionDenied'],
    [status(16), 'unauthenticated'],
    [status(9), 'refused'],
  ] as const;
  const named = [
    ...codes,
    [status(5, 'Namespace x is not found.'), 'namespaceNotFound'],
    [new NamespaceNotFoundError('x'), 'namespaceNotFound'],
  ] as const;
  for (const [error, code] of named) {
    const told = translateServerError(error);
    assert.ok(hasCode(told, code), String(told));
    assert.match(told.message, /^Temporal refuses the call: /);
  }
  const bug = new SyntaxError('a bug');
  assert.equal(translateServerError(bug), bug);
});
