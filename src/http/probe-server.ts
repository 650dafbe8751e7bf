/** A server for the programs that watch this process: a few addresses without callers, bodies and secrets. */
import fastify, { type FastifyInstance } from 'fastify';
import type { ListenAddress } from '../config/variables.ts';

/** A probe has no body, and gives up long before this. */
const REQUEST_TIMEOUT_MS = 5_000;

/** @throws Error naming the variable, and not the address, where nothing can listen there */
export async function serveProbes(
  variable: 'HEALTH_ADDRESS' | 'METRICS_ADDRESS',
  { host, port }: ListenAddress,
  addRoutes: (app: FastifyInstance) => void,
): Promise<{ close(): Promise<void> }> {
  const app = fastify({ requestTimeout: REQUEST_TIMEOUT_MS, bodyLimit: 1_024, forceCloseConnections: true });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'NotFound' }));
  app.setErrorHandler((_error, _request, reply) => reply.code(400).send({ error: 'BadRequest' }));
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });
  addRoutes(app);
  try {
    await app.listen({ host, port });
  } catch {
    await app.close();
    throw new Error(`nothing can listen at ${variable}: it is not this machine’s, or its port is taken`);
  }
  return { close: () => app.close() };
}
