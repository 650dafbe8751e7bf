/** Copies of `credit-journey api` as a site runs them: stateless, on ports of their own, killed and started again. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../../src/local/free-ports.ts';
import { AUDIENCE, ISSUER, KEY_SET, token } from '../../api/fixtures.ts';
import { httpCall } from '../../support/http-call.ts';
import { Supervised } from '../supervised.ts';
import { waitFor } from '../wait-for.ts';
import type { WriteRefused } from '../worker-conditions.ts';

export interface ApiHouse {
  copies: readonly Supervised[];
  /** One address for each copy. */
  urls: readonly string[];
  /** Notes a call as long as it is under way. */
  during<T>(copy: number, call: () => Promise<T>): Promise<T>;
  /** Resolves when this copy works on a call, or after `limitMs`. */
  untilBusy(copy: number, limitMs: number): Promise<void>;
  /** Waits until every copy answers a caller with a token. Its audit log has begun then. */
  untilServing(): Promise<void>;
  stop(): Promise<void>;
}

export interface ApiPlace {
  copies: number;
  directory: string;
  logDir: string;
  /** The program that serves it, asked at each start. */
  cli(): string;
  /** Preloaded. */
  conditions: string;
  /** The workers' environment of this world. */
  env: NodeJS.ProcessEnv;
  onLog(file: string): void;
  onWriteRefused(): void;
}

const SERVING_LIMIT_MS = 60_000;
const LOOK_AGAIN_MS = 5;
/** Longer than any storm. */
export const TOKENS_LAST_S = 4 * 3_600;

/** Variables that the API shares with workers: the places of Temporal, ledger, keys and profiles. */
const SHARED = [
  ...['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'LEDGER_URL', 'LEDGER_ID', 'KEY_RING_FILE', 'PAYLOAD_ENCRYPTION'],
  ...['PORTFOLIO_DIR', 'TASK_QUEUE', 'GATEWAY_PROFILES_FILE'],
];

/** Started when it resolves, and not yet serving. */
export async function startApiHouse(place: ApiPlace): Promise<ApiHouse> {
  const ports = await freePorts(place.copies);
  const keySetFile = join(place.directory, 'api-keys.json');
  await writeFile(keySetFile, JSON.stringify(KEY_SET));
  const copies = ports.map((port, nth) => copyOf(place, { port, nth, keySetFile }));
  for (const copy of copies) copy.start();
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const underWay = ports.map(() => 0);
  const add = (copy: number, more: number) => {
    underWay[copy] = (underWay[copy] ?? 0) + more;
  };
  return {
    copies,
    urls,
    async during(copy, call) {
      add(copy, 1);
      try {
        return await call();
      } finally {
        add(copy, -1);
      }
    },
    async untilBusy(copy, limitMs) {
      const endsAt = performance.now() + limitMs;
      while (!underWay[copy] && performance.now() < endsAt) await delay(LOOK_AGAIN_MS);
    },
    async untilServing() {
      const expiresAt = Math.floor(Date.now() / 1_000) + TOKENS_LAST_S;
      const anybody = await token({ scopes: ['journeys:read'], expiresAt });
      const serves = async (url: string) => {
        const answer = await httpCall(`${url}/v1/journeys/NOBODY-S`, { token: anybody }).catch(() => null);
        return answer?.status === 404;
      };
      await Promise.all(urls.map((url) => waitFor('a copy of the API', () => serves(url), SERVING_LIMIT_MS)));
    },
    async stop() {
      await Promise.all(copies.map((copy) => copy.stop()));
    },
  };
}

function copyOf(place: ApiPlace, { port, nth, keySetFile }: { port: number; nth: number; keySetFile: string }) {
  const { logDir, env, conditions, onLog, onWriteRefused } = place;
  const name = `api ${nth + 1}`;
  const [logFile, auditFile] = [join(logDir, `api-${nth + 1}.log`), join(logDir, `api-${nth + 1}-audit.log`)];
  onLog(logFile);
  onLog(auditFile);
  return new Supervised({
    ...{ name, logFile },
    get args() {
      return ['--import', conditions, place.cli(), 'api', '--json'];
    },
    env: {
      ...Object.fromEntries(SHARED.map((variable) => [variable, env[variable]])),
      API_PORT: String(port),
      API_JWKS_FILE: keySetFile,
      API_JWT_ISSUER: ISSUER,
      API_JWT_AUDIENCE: AUDIENCE,
      API_AUDIT_FILE: auditFile,
    },
    onMessage: (message) => {
      if ((message as Partial<WriteRefused>).writeRefused) onWriteRefused();
    },
  });
}
