/** A platform's endpoint for events, which fails now and then. It records every event that reaches it. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { freePorts } from '../../src/local/free-ports.ts';
import type { ReceivedEvent } from './evidence-others.ts';

/**
 * `refuses`: answers 503. `hangs`: gives no answer, and resets the connection once it is well again. `forgets`: takes
 * the event, and breaks the connection before it answers. `dead`: does not listen.
 */
export const MOODS = ['refuses', 'hangs', 'forgets', 'dead'] as const;
export type Mood = (typeof MOODS)[number];

/** The endpoints of the profile. The worker retries each event to the dead endpoint for seconds, so it gets few types. */
export const ENDPOINTS: Record<'platform' | 'nobody', { name: string; events?: string[] }> = {
  platform: { name: 'platform' },
  nobody: { name: 'nobody', events: ['gate.reached', 'journey.ended', 'pull.ended', 'share.ended'] },
};
/** The port of the discard service, on which no server listens. */
const NOBODY_LISTENS = 'http://127.0.0.1:9/';

export interface WebhookEndpoint {
  url: string;
  secret: string;
  /** In the order of arrival. */
  received: readonly ReceivedEvent[];
  be(mood: Mood | 'well'): Promise<void>;
  close(): Promise<void>;
}

export async function startWebhookEndpoint(name: string): Promise<WebhookEndpoint> {
  const [port = 0] = await freePorts(1);
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const received: ReceivedEvent[] = [];
  const hanging = new Set<ServerResponse>();
  let mood: Mood | 'well' = 'well';
  let server: Server | undefined;
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request).catch(() => undefined);
    // Only the head has arrived, so the endpoint has not received the event.
    if (body === undefined) return;
    const { headers } = request;
    const id = String(headers['webhook-id']);
    const isAccepted = mood === 'well';
    const isSigned = signatureOf(secret, id, headers['webhook-timestamp'], body) === headers['webhook-signature'];
    received.push({ endpoint: name, id, body, isAccepted, isSigned });
    if (mood === 'hangs') hanging.add(response);
    else if (mood === 'forgets') request.socket.destroy();
    else response.writeHead(isAccepted ? 204 : 503).end();
  };
  const listen = async () => {
    server = createServer((request, response) => void take(request, response));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const die = async () => {
    const dying = server;
    server = undefined;
    dying?.closeAllConnections();
    dying?.close();
    if (dying) await once(dying, 'close');
  };
  await listen();
  return {
    ...{ url: `http://127.0.0.1:${port}/`, secret, received },
    async be(next) {
      mood = next;
      for (const response of hanging) response.destroy();
      hanging.clear();
      if (next === 'dead') await die();
      else if (!server) await listen();
    },
    close: die,
  };
}

/** Not by the library's `verify`: the clocks of workers may be further ahead than receivers allow. */
function signatureOf(secret: string, id: string, timestamp: unknown, body: string): string {
  return new Webhook(secret).sign(id, new Date(Number(timestamp) * 1_000), body);
}

/** Writes the endpoints' settings for a profile. */
export async function declareEndpoints({ url, secret }: WebhookEndpoint, directory: string): Promise<object[]> {
  const secretFile = join(directory, 'webhook-secret');
  await writeFile(secretFile, secret, { mode: 0o600 });
  const { platform, nobody } = ENDPOINTS;
  return [
    { ...platform, url, secretFiles: [secretFile], allowPrivateAddresses: true },
    { ...nobody, url: NOBODY_LISTENS, secretFiles: [secretFile], allowPrivateAddresses: true },
  ];
}
