/** Runs the sandbox as a process of its own: `node sandbox/main.ts --port 0 --json`. */
import { parseArgs } from 'node:util';
import { startSandbox } from './server.ts';

const text = { type: 'string' } as const;
const list = { type: 'string', multiple: true } as const;
const { json, ...given } = parseArgs({
  options: {
    port: text,
    host: text,
    'client-id': text,
    'client-secret': text,
    audience: text,
    'time-zone': text,
    'token-lifetime-seconds': text,
    'state-file': text,
    'journal-file': text,
    seed: text,
    'latency-ms': text,
    'tls-cert-file': text,
    'tls-key-file': text,
    with: list,
    fault: list,
    json: { type: 'boolean', default: false },
  },
}).values;

const NUMBERS = ['port', 'token-lifetime-seconds', 'seed', 'latency-ms'];

/** `startSandbox` refuses an invalid option by name; an invalid number becomes NaN. */
const options = Object.entries(given).map(([name, value]) => {
  const number = String(value).trim() === '' ? Number.NaN : Number(value);
  const camelCase = name.replace(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());
  return [camelCase, NUMBERS.includes(name) ? number : value];
});

try {
  const sandbox = await startSandbox(Object.fromEntries(options));
  const { url, port } = sandbox;
  console.log(json ? JSON.stringify({ url, port }) : `sandbox gateway at ${url}`);
  const stop = (): void => {
    // Does not wait for requests in progress: a gateway may end at any instant.
    sandbox.close().then(() => process.exit(0));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
} catch (error) {
  console.error(error instanceof Error ? error.message : 'the sandbox could not start');
  process.exitCode = error instanceof RangeError ? 2 : 1;
}
