/** The platform that receives all events: it verifies each one, counts, and is unavailable now and then. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

export interface Hooks {
  /** For the workers. */
  env: Record<string, string>;
  readonly delivered: number;
  readonly refused: number;
  /** The ids of ended runs, each once, from their `*.ended` events. */
  readonly ended: ReadonlySet<string>;
  /** The number of events with an invalid signature. */
  readonly forged: number;
  close(): Promise<void>;
}

/** One event in so many is answered with 503, and comes again 5 s later. */
const REFUSED_ONE_IN = 50;

/** @param secretFile the path to which it writes the secret */
export async function startHooks(secretFile: string): Promise<Hooks> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  await writeFile(secretFile, secret, { mode: 0o600 });
  const webhook = new Webhook(secret);
  const ended = new Set<string>();
  const seen = { delivered: 0, refused: 0, forged: 0, asked: 0 };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const status = take(body, request.headers as Record<string, string>);
    response.writeHead(status).end();
  });
  const take = (body: string, headers: Record<string, string>): number => {
    let event: { type: string; data: Record<string, unknown> };
    try {
      event = webhook.verify(body, headers) as typeof event;
    } catch {
      seen.forged++;
      return 400;
    }
    if (seen.asked++ % REFUSED_ONE_IN === REFUSED_ONE_IN - 1) {
      seen.refused++;
      return 503;
    }
    seen.delivered++;
    const { journeyId, pullId, shareId } = event.data;
    if (event.type.endsWith('.ended')) ended.add(String(journeyId ?? pullId ?? shareId));
    return 204;
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const webhooks = [{ name: 'platform', url, secretFile, allowPrivateAddresses: true }];
  const profilesFile = `${secretFile}-profiles.json`;
  await writeFile(profilesFile, JSON.stringify({ profiles: { default: { webhooks } } }));
  return {
    env: { GATEWAY_PROFILES_FILE: profilesFile },
    get delivered() {
      return seen.delivered;
    },
    get refused() {
      return seen.refused;
    },
    get forged() {
      return seen.forged;
    },
    ended,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
