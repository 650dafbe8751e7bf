/** Options that many commands have, and their values after parsing. */
import type { Command } from 'commander';
import type { ConnectOptions } from '../../client.ts';

export interface OutputOptions {
  json?: boolean;
  debug?: boolean;
}

export interface ServerOptions extends OutputOptions {
  address?: string;
  namespace?: string;
  taskQueue?: string;
}

/** Forms of the argument `<id>`, for a command's help. */
export const RUN_ID = 'a journey’s id, pull:<pullId>, share:<shareId> or portfolio:<reviewId>';

export function withOutputOptions(command: Command): Command {
  return command
    .option('--json', 'print JSON (the default where output is not a terminal)')
    .option('--debug', 'print stack traces of errors');
}

export function withServerOptions(command: Command): Command {
  return withOutputOptions(
    command
      .option('--address <host:port>', 'Temporal server (default: TEMPORAL_ADDRESS, else 127.0.0.1:7233)')
      .option('--namespace <name>', 'Temporal namespace (default: TEMPORAL_NAMESPACE, else default)')
      .option('--task-queue <name>', 'task queue of the workers (default: TASK_QUEUE)'),
  );
}

/** For a command that is an operation of the API. */
export function withApiOptions(command: Command): Command {
  return command
    .option('--api <url>', 'send it to this HTTP API, with a token, instead of running it in this process')
    .option('--token-file <path>', 'with --api: where the token is (default: API_TOKEN_FILE, else in API_TOKEN)');
}

export function connectOptions({ address, namespace, taskQueue }: ServerOptions): ConnectOptions {
  return { address, namespace, taskQueue };
}

/** Adds examples to a command's help. Each works unchanged against `credit-journey dev`. */
export function withExamples(command: Command, ...examples: string[]): Command {
  const lines = examples.map((example) => `  $ ${example}`).join('\n');
  return command.addHelpText('after', `\nExample, against \`credit-journey dev\`:\n${lines}`);
}
