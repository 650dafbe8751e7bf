/** Runs the sandbox as a process of its own: `node sandbox/main.ts --port 0 --json`. */
import { parseArgs } from 'node:util';
import { type SandboxOptions, startSandbox } from './server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    host: { type: 'string' },
    'client-id': { type: 'string' },
    'client-secret': { type: 'string' },
    audience: { type: 'string' },
    'time-zone': { type: 'string' },
    'token-lifetime-seconds': { type: 'string' },
    'state-file': { type: 'string' },
    'journal-file': { type: 'string' },
    seed: { type: 'string' },
    'latency-ms': { type: 'string' },
    'tls-cert-file': { type: 'string' },
    'tls-key-file': { type: 'string' },
    with: { type: 'string', multiple: true },
    fault: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
  },
});

/** The given options. `startSandbox` refuses an invalid one by name; an invalid number becomes NaN. */
function options(): SandboxOptions {
  const given = {
    port: number(values.port),
    host: values.host,
    clientId: values['client-id'],
    clientSecret: values['client-secret'],
    audience: values.audience,
    timeZone: values['time-zone'],
    tokenLifetimeSeconds: number(values['token-lifetime-seconds']),
    stateFile: values['state-file'],
    journalFile: values['journal-file'],
    seed: number(values.seed),
    latencyMs: number(values['latency-ms']),
    tlsCertFile: values['tls-cert-file'],
    tlsKeyFile: values['tls-key-file'],
    with: values.with,
    fault: values.fault,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function number(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return text.trim() === '' ? Number.NaN : Number(text);
}

try {
  const sandbox = await startSandbox(options());
  const { url, port } = sandbox;
  console.log(values.json ? JSON.stringify({ url, port }) : `sandbox gateway at ${url}`);
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
