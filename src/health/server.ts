/** `/healthz` and `/readyz`, for the programs that start, restart and watch workers. Nothing secret is in either. */
import fastify from 'fastify';
import type { ListenAddress } from '../config/variables.ts';
import type { Readiness } from './readiness.ts';

interface HealthServer {
  close(): Promise<void>;
}

/** A probe has no body, and gives up long before this. */
const REQUEST_TIMEOUT_MS = 5_000;

/** @throws Error naming the variable, and not the address, where nothing can listen there */
export async function startHealthServer({ host, port }: ListenAddress, readiness: Readiness): Promise<HealthServer> {
  const app = fastify({ requestTimeout: REQUEST_TIMEOUT_MS, bodyLimit: 1_024, forceCloseConnections: true });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'NotFound' }));
  app.setErrorHandler((_error, _request, reply) => reply.code(400).send({ error: 'BadRequest' }));
  // Shows only that the event loop runs: a failure that a restart cannot mend must not restart the process.
  app.get('/healthz', (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const report = await readiness.report();
    return reply
      .code(report.ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send(report);
  });
  try {
    await app.listen({ host, port });
  } catch {
    await app.close();
    throw new Error('nothing can listen at HEALTH_ADDRESS: it is not this machine’s, or its port is taken');
  }
  return { close: () => app.close() };
}
