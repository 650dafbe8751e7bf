/** One caller drips bodies into the HTTP API, on far more connections than it has places for: what others' consents take. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchApi, call, callerToken, startBenchApi } from '../api/api-program.ts';
import { denial, waitingAtGate } from '../load/inputs.ts';
import { median } from '../load/series.ts';
import type { Site } from '../load/site.ts';
import { bounded, type Part, plain } from './finding.ts';

export interface DrippingOptions {
  connections: number;
  /** Consents in each round, one at a time. */
  consents: number;
  say(text: string): void;
}

const ROUNDS = 5;
/** Before the API gives up a body, which takes it ten seconds and more. */
const EVERY_MS = 500;
const SETTLE_MS = 500;
/** Times with the dripping caller, by those without: what a busy machine may do to a median. */
const MOST_RATIO = 2;
/** Each of them may send 100 a second. */
const OTHERS = 5;

export async function dripping(site: Site, { connections, consents, say }: DrippingOptions): Promise<Part> {
  const api = await startBenchApi(site);
  try {
    const { journeyId } = await site.journeys.start(waitingAtGate());
    const tokens = await Promise.all(Array.from({ length: OTHERS }, (_, nth) => callerToken(nth)));
    const round = () => timeConsents(api, { journeyId, tokens, count: consents });
    await round();
    const figures: { alone: number; beside: number }[] = [];
    let open = 0;
    for (let nth = 0; nth < ROUNDS; nth++) {
      say(`round ${nth + 1} of ${ROUNDS}`);
      const alone = await round();
      const drips = await drip(api, connections);
      await sleep(SETTLE_MS);
      const beside = await round();
      open += drips.openSockets();
      drips.end();
      figures.push({ alone, beside });
      await sleep(SETTLE_MS);
    }
    return {
      title: 'dripping',
      run: `${ROUNDS} rounds of ${consents} consents, one at a time, without and beside ${connections} connections of another caller whose bodies drip`,
      findings: [
        plain('connections that still dripped after a round', open / ROUNDS),
        plain('a consent alone, p50', median(figures.map(({ alone }) => alone)), 'ms'),
        plain('a consent beside them, p50', median(figures.map(({ beside }) => beside)), 'ms'),
        bounded('  the one by the other', median(figures.map(({ alone, beside }) => beside / alone)), MOST_RATIO),
      ],
    };
  } finally {
    await api.stop();
  }
}

/** The median in milliseconds. */
async function timeConsents(
  api: BenchApi,
  { journeyId, tokens, count }: { journeyId: string; tokens: readonly string[]; count: number },
): Promise<number> {
  const took: number[] = [];
  for (let nth = 0; nth < count; nth++) {
    const body = denial(journeyId, `C-${performance.now()}`);
    const beganAt = performance.now();
    await call(api, '/v1/consents', { token: tokens[nth % tokens.length], body }, [200, 202, 409]);
    took.push(performance.now() - beganAt);
  }
  return median(took);
}

interface Drips {
  openSockets(): number;
  end(): void;
}

/** Each connection announces a body, and sends a byte of it now and then. */
async function drip(api: BenchApi, connections: number): Promise<Drips> {
  const { hostname, port } = new URL(api.url);
  const bearer = await callerToken(OTHERS);
  const head = [
    'POST /v1/consents HTTP/1.1',
    `host: ${hostname}`,
    `authorization: Bearer ${bearer}`,
    'content-type: application/json',
    'content-length: 1000',
  ].join('\r\n');
  const sockets = Array.from({ length: connections }, (): Socket => {
    const socket = connect(Number(port), hostname, () => socket.write(`${head}\r\n\r\n{`));
    // The API may end it.
    socket.on('error', () => undefined);
    socket.resume();
    return socket;
  });
  const timer = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write(' ');
  }, EVERY_MS);
  return {
    openSockets: () => sockets.filter(({ writable }) => writable).length,
    end() {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}
