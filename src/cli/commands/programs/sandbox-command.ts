/** `credit-journey sandbox`: runs the stand-in gateway until a signal stops it. */
import { type Command, InvalidArgumentError } from 'commander';
import type { RunningSandbox, SandboxOptions } from '../../../../sandbox/server.ts';
import { omitUndefined } from '../../../base/defined.ts';
import { stopSignal } from '../../../local/stop-signal.ts';
import { type OutputOptions, withOutputOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { createOutput } from '../../output/output.ts';

interface SandboxFlags extends SandboxOptions, OutputOptions {}

const EXAMPLE = `
Example:
  $ credit-journey sandbox --port 8085
  $ curl -s http://127.0.0.1:8085/_sandbox/inquiries

docs/sandbox.md lists the magic applicants, the faults and the routes.`;

/** Adds the command. Its action resolves when SIGINT or SIGTERM has stopped the sandbox, and rejects if it cannot start. */
export function registerSandboxCommand(program: Command): void {
  const command = program
    .command('sandbox')
    .description('run a stand-in gateway with its token service on this machine')
    .option('--port <number>', 'port to listen on; 0 takes a free one', integer, 0)
    .option('--host <address>', 'IP address to listen on; beyond this machine only in an isolated network', '127.0.0.1')
    .option('--client-id <id>', 'client id it accepts', 'sandbox-client')
    .option('--client-secret <secret>', 'client secret it accepts; never a real one', 'sandbox-secret')
    .option('--audience <name>', 'audience it accepts', 'servicegateway')
    .option('--time-zone <name>', 'IANA time zone in which originalInquiryDate is read', 'UTC')
    .option('--token-lifetime-seconds <seconds>', 'expires_in of its tokens', integer, 28_800)
    .option('--state-file <path>', 'keep posted inquiries and references across restarts')
    .option('--seed <number>', 'seed of fault plans that name none', integer, 1)
    .option('--latency-ms <milliseconds>', 'how long each posted inquiry takes to be answered', integer, 0)
    .option('--tls-cert-file <path>', 'certificate in PEM: with a key it speaks https')
    .option('--tls-key-file <path>', 'its private key in PEM')
    .option('--with <name...>', "variants that every answer has beyond the interface's shape, such as applicant-ids")
    .option('--fault <name|rule...>', "faults that strike each request: a name, or a plan's rule in JSON");
  withOutputOptions(command)
    .addHelpText('after', EXAMPLE)
    .action(async ({ json, debug, ...options }: SandboxFlags) => {
      // Taken before the start, so that a signal during it is not lost.
      const stopped = stopSignal();
      const sandbox = await start(options);
      const output = createOutput(omitUndefined({ json, debug }));
      const { url, port } = sandbox;
      // One line, which a program that starts this process waits for.
      output.event({ url, port }, () => story(url));
      await stopped;
      await sandbox.close();
    });
}

/** Loaded here, so that other commands do not wait for an HTTP server's modules. */
async function start(options: SandboxOptions): Promise<RunningSandbox> {
  const [{ startSandbox }, { isOwnMachine }] = await Promise.all([
    import('../../../../sandbox/server.ts'),
    import('../../../../sandbox/options.ts'),
  ]);
  if (options.host !== undefined && !isOwnMachine(options.host)) await warnOfNetwork();
  try {
    return await startSandbox(options);
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error;
  }
}

/** Warns of `--host`, and refuses it outside the sandbox environment. */
async function warnOfNetwork(): Promise<void> {
  const { loadVariable } = await import('../../../config/environment.ts');
  if (loadVariable(process.env, 'GATEWAY_ENVIRONMENT') !== 'sandbox') {
    throw new UsageError('--host may leave this machine in the sandbox environment alone (GATEWAY_ENVIRONMENT)');
  }
  console.error(
    'warning: the sandbox authenticates no caller, and shows every caller what was sent to it: ' +
      'let only its own workers reach this address, and never send it data of real people',
  );
}

function story(url: string): string[] {
  return [
    `sandbox gateway at ${url}`,
    `  token     POST ${url}/oauth/token`,
    `  request   POST ${url}/ServiceGateway/orest/grs_v001/request`,
    `  posted    GET  ${url}/_sandbox/inquiries`,
    `  faults    GET  ${url}/_sandbox/faults`,
    'Ctrl-C stops it',
  ];
}

function integer(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be an integer.');
  return Number(text);
}
