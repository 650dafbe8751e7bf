/**
 * Whether the installed undici announces when it begins to write a request. Every conclusion that nothing was sent
 * depends on it (docs/protocol.md, fence 3). Tried on a server of our own, never on the gateway.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createConnections } from '../../gateway/connections.ts';
import { exchange } from '../../gateway/exchange.ts';
import type { GatewayProfile } from '../../gateway/profile.ts';
import type { Check } from './check.ts';
import { fail, NotCheckedError, pass } from './finding.ts';

/** More than any loopback takes. */
const WITHIN_MS = 5_000;
const MAX_ANSWER_BYTES = 4_096;

export function markerCheck(profile: GatewayProfile): Check {
  return {
    name: 'markers',
    needs: ['GATEWAY_'],
    async run() {
      const [answered, refused] = [await answerOfOurs(profile), await refusalOfOurs(profile)];
      if (answered.kind === 'notBegun') {
        throw new NotCheckedError(
          'its own server on loopback was not reached',
          'see what doctor may do on this machine',
        );
      }
      if (answered.kind === 'answered' && answered.marked && refused.kind === 'notBegun') {
        return pass('undici says what it has begun to send');
      }
      return fail(
        'undici does not say what it has begun to send: every outcome would be unknown',
        'install the exact version of undici that package-lock.json names (`npm ci`)',
      );
    },
  };
}

async function answerOfOurs(profile: GatewayProfile) {
  const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await tried(profile, portOf(server.address()));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** A port that was just closed: no program listens there. */
async function refusalOfOurs(profile: GatewayProfile) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server.address());
  server.close();
  await once(server, 'close');
  return tried(profile, port);
}

async function tried(profile: GatewayProfile, port: number) {
  const dispatcher = createConnections(profile, MAX_ANSWER_BYTES);
  try {
    return await exchange({
      dispatcher,
      url: new URL(`http://127.0.0.1:${port}/`),
      headers: {},
      body: '{}',
      sendBy: performance.now() + WITHIN_MS,
      answerWithinMs: WITHIN_MS,
    });
  } finally {
    await dispatcher.destroy();
  }
}

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
