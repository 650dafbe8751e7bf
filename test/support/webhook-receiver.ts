/** A platform's webhook receiver on a real socket. It verifies with the library; each path has its answer. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { ID_NAMES, parseRunKey } from '../../src/model/run-key.ts';
import { WAIT_LIMIT_MS } from './journey-harness.ts';

export interface ReceivedWebhook {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  id: string;
  /** The event that the library verified; absent if it refused the signature. */
  event?: { type: string; timestamp: string; data: Record<string, unknown> };
}

export interface WebhookReceiver {
  url: string;
  received: ReceivedWebhook[];
  /** Sets a path's answer from now on. `hang`: never answers. */
  answer(path: string, with_: number | 'hang' | ((response: ServerResponse) => void)): void;
  /** Waits for `count` accepted events of a run (`J-1`, `pull:P-1`) at a path, or times out. */
  accepted(path: string, runKey: string, count: number): Promise<ReceivedWebhook[]>;
  close(): Promise<void>;
}

export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** @param secret the secret that this receiver knows */
export async function startWebhookReceiver(secret: string): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const accepted = new Set<ReceivedWebhook>();
  const answers = new Map<string, number | 'hang' | ((response: ServerResponse) => void)>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { url: path = '', headers } = request;
    const one: ReceivedWebhook = { path, headers, body, id: String(headers['webhook-id']) };
    try {
      one.event = new Webhook(secret).verify(body, headers as Record<string, string>) as ReceivedWebhook['event'] & {};
    } catch {
      // The event is left out, and the request refused below.
    }
    received.push(one);
    const answer = answers.get(path) ?? 204;
    if (answer === 'hang') return;
    if (typeof answer === 'function') {
      answer(response);
      return;
    }
    const status = one.event ? answer : 400;
    if (status < 300) accepted.add(one);
    response.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (path, with_) => void answers.set(path, with_),
    async accepted(path, runKey, count) {
      const endsAt = performance.now() + WAIT_LIMIT_MS;
      for (;;) {
        const found = received.filter((one) => accepted.has(one) && one.path === path && isOf(one, runKey));
        if (found.length >= count) return found;
        if (performance.now() > endsAt)
          throw new Error(`waited in vain for ${count}, got ${typesOf(found).join(', ')}`);
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An event with a journey's id belongs to that journey, even if it also names a share. */
function isOf({ event }: ReceivedWebhook, runKey: string): boolean {
  const { kind, id } = parseRunKey(runKey);
  const { journeyId } = event?.data ?? {};
  if (kind === 'journey') return journeyId === id;
  return journeyId === undefined && event?.data[ID_NAMES[kind]] === id;
}

export function typesOf(webhooks: readonly ReceivedWebhook[]): string[] {
  return webhooks.map(({ event }) => event?.type ?? 'refused');
}
