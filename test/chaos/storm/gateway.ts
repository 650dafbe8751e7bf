/** The gateway and its token service, and the wires to them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { TcpProxy } from '../../support/tcp-proxy.ts';
import type { Strike } from './strike.ts';

/** Connections that are open are reset, new ones are closed at once. */
async function cutFor(wire: TcpProxy, forMs = 0): Promise<boolean> {
  wire.cut();
  await delay(forMs);
  wire.heal();
  return true;
}

export const gatewayUnreachable: Strike = ({ forMs }, { world }) => cutFor(world.gatewayWire, forMs);

export const tokenServiceDown: Strike = ({ forMs }, { world }) => cutFor(world.tokenWire, forMs);

export const gatewaySlow: Strike = async ({ forMs = 0, delayMs = 0 }, { world }) => {
  world.gatewayWire.slowDown(delayMs);
  await delay(forMs);
  world.gatewayWire.slowDown(0);
  return true;
};

export const gatewayHalfOpen: Strike = async ({ forMs = 0 }, { world }) => {
  world.gatewayWire.fallSilent();
  await delay(forMs);
  world.gatewayWire.heal();
  return true;
};

/** Somewhere in an answer's head or body: the next one that is long enough. */
export const answerBroken: Strike = async ({ how = 'reset', bytes = 0, count = 1 }, { world }) => {
  world.gatewayWire.breakAnswers({ how, afterBytes: bytes, times: count });
  return true;
};

/** Before those that strike by themselves; until the sandbox is killed, or another one takes its place. */
export const gatewayFault: Strike = async ({ fault }, { world }) => {
  if (!fault) return false;
  await world.setFaults([fault, ...world.plan.world.gatewayFaults]);
  return true;
};

export const tokensRevoked: Strike = async (_step, { world }) => {
  const url = `${world.sandboxUrl}/_sandbox/tokens/revoke`;
  const answer = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(2_000) });
  return answer.ok;
};
