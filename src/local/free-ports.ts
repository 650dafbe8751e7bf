import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

const LOOPBACK = '127.0.0.1';

/**
 * Below the ports that systems give to outgoing connections and to servers that ask for any: a port from there may be
 * taken by another program between finding and using it.
 */
const CHOSEN_FROM = { first: 20_000, count: 12_000 };
const TRIES = 20;

/** Finds `count` different ports on loopback, and holds each until all are found. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listenAnywhere));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  return ports;
}

/** Whether a server may listen on this port of loopback now. */
export async function isPortFree(port: number): Promise<boolean> {
  try {
    await using _ = await listen(port);
    return true;
  } catch {
    return false;
  }
}

async function listenAnywhere(): Promise<Server> {
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      return await listen(CHOSEN_FROM.first + randomInt(CHOSEN_FROM.count));
    } catch {
      // Taken: another one.
    }
  }
  return listen(0);
}

async function listen(port: number): Promise<Server> {
  const server = createServer().listen({ port, host: LOOPBACK, exclusive: true });
  await once(server, 'listening');
  return server;
}
