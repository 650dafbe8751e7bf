/** Starts the stand-in gateway: token service, request endpoint and the sandbox's own routes on one port. */
import type { AddressInfo, Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { addAdminRoutes } from './admin-routes.ts';
import { type Context, MARK, SandboxStopped } from './context.ts';
import { errorAnswer } from './faults/fault.ts';
import { Faults } from './faults/plan.ts';
import { Journal } from './journal.ts';
import { Listener } from './listener.ts';
import { type SandboxOptions, settingsOf } from './options.ts';
import { Records } from './records/records.ts';
import { StateFile } from './records/state-file.ts';
import { addRequestRoute } from './request-route.ts';
import { localClock } from './rules/local-time.ts';
import { TokenIssuer } from './token-issuer.ts';
import { addTokenRoute } from './token-route.ts';

export type { SandboxOptions } from './options.ts';

export type RunningSandbox = Awaited<ReturnType<typeof startSandbox>>;

/**
 * Starts a sandbox, which listens when the promise resolves. Rejects with a `RangeError` for an invalid option and an
 * `Error` for a damaged state file. Where the port is taken, it rejects with the system's error.
 */
export async function startSandbox(options: SandboxOptions = {}) {
  const settings = settingsOf(options);
  const app: FastifyInstance = fastify({
    // Fastify's types tell a server with TLS from one without; nothing here depends on it.
    ...(settings.tls === undefined ? {} : ({ https: settings.tls } as object)),
    // Faults end connections in ways that Fastify would otherwise answer or wait for.
    forceCloseConnections: true,
    bodyLimit: 1_048_576,
    clientErrorHandler: refuseNonHttp,
  });
  const context: Context = {
    settings,
    records: new Records(settings.stateFile === undefined ? undefined : new StateFile(settings.stateFile)),
    journal: settings.journalFile === undefined ? undefined : new Journal(settings.journalFile),
    tokens: new TokenIssuer(settings.audience, settings.tokenLifetimeSeconds),
    tokenRequests: [],
    faults: new Faults(settings.seed, settings.faultRules),
    listener: new Listener(app.server, settings.host),
    now: localClock(settings.timeZone),
    running: new AbortController(),
  };
  setUp(app, context);
  app.server.on('connection', (socket: Socket) => context.journal?.connection(socket));
  app.server.on('secureConnection', resetsBelow);
  await app.listen({ port: settings.port, host: settings.host });
  context.journal?.listening();
  const { port } = app.server.address() as AddressInfo;
  context.listener.port = port;
  return {
    /** Base address of both services, without a slash at its end. */
    url: `${settings.tls ? 'https' : 'http'}://${settings.host.includes(':') ? `[${settings.host}]` : settings.host}:${port}`,
    port,
    /** Destroys open connections, hanging ones too. */
    async close() {
      context.listener.close();
      context.running.abort();
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

function setUp(app: FastifyInstance, context: Context): void {
  // Bodies are read as text: invalid JSON must appear in the list of requests, and the sandbox applies the rules
  // itself.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.decorateRequest('running');
  app.addHook('onRequest', async (request, reply) => {
    request.running = context.running.signal;
    reply.header(MARK.name, MARK.value);
  });
  app.setNotFoundHandler((_request, reply) => {
    const { status, headers, body } = errorAnswer(404, 'There is nothing at this address');
    reply.code(status).headers(headers).send(body);
  });
  app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) => {
    if (error instanceof SandboxStopped) {
      reply.hijack();
      request.raw.socket.destroy();
      return;
    }
    const status = error.statusCode ?? 500;
    const answer = errorAnswer(status, status < 500 ? error.message : 'The sandbox itself has failed');
    reply.code(status).headers(answer.headers).send(answer.body);
  });
  addTokenRoute(app, context);
  addRequestRoute(app, context);
  addAdminRoutes(app, context);
}

/** Faults reset connections, which Node does for the socket below TLS alone. */
function resetsBelow(socket: Socket & { _parent?: Socket }): void {
  const { _parent: below } = socket;
  if (!below) return;
  socket.resetAndDestroy = () => {
    below.resetAndDestroy();
    return socket;
  };
}

function refuseNonHttp(_error: Error, socket: Socket): void {
  if (!socket.writable) return;
  socket.end(
    `HTTP/1.1 400 Bad Request\r\n${MARK.name}: ${MARK.value}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
  );
}
