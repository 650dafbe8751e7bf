/**
 * Declares each command as a row, and runs it: reads its arguments and options, opens what it asks for, prints its answer,
 * and names the typed option in an error.
 */
import { type Command, InvalidArgumentError, type Option } from 'commander';
import { omitUndefined } from '../../base/defined.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { checkRunKey, ID_NAMES, parseRunKey } from '../../model/run-key.ts';
import type { LedgerConnectOptions, LedgerJourneys } from '../../operator/ledger-journeys.ts';
import { UsageError } from '../output/errors.ts';
import { createOutput, formatDocument, type Output, type OutputOptions, readDocument, wrap } from '../output/output.ts';
import { type GivenOptions, type Member, mapOptionsByPath, toOption, toOptionError } from '../output/schema-options.ts';

export interface CommandRow {
  /** `extend`, or `portfolio pause`. */
  name: string;
  description: string;
  /** `<id>` names a run of any kind. */
  arguments?: readonly (readonly [name: string, words: string])[];
  /** The options that are members of a message or a query. */
  members?: readonly Member[];
  options?: readonly (Option | OptionRow)[];
  /** Default: `server` and `output`. */
  common?: readonly (keyof typeof COMMON_OPTIONS)[];
  /** Each works unchanged against `credit-journey dev`. A text takes the place of the whole section. */
  examples: readonly string[] | string;
  run?(context: Context<never, never>): Promise<Answer>;
  /** Starts a program that serves until a signal stops it. `null`: it ends at once. */
  serve?(context: Context<never, never>): Promise<Service | null>;
  /** The exit code of a signal that comes before the service is ready. Default 0. */
  unready?: number;
}

type OptionRow = readonly [flags: string, words: string, parse?: unknown, fallback?: unknown];

export type ServerOptions = OutputOptions & Partial<Record<'address' | 'namespace' | 'taskQueue', string>>;

/** Gives a command its arguments and options, and opens what it asks for. */
export interface Context<Own = object, Args = Readonly<Record<string, string>>> {
  /** The given arguments, by name. */
  args: Args;
  options: ServerOptions & Own;
  output: Output;
  /** They are closed in reverse order when the command ends. */
  resources: AsyncDisposableStack;
  /** Opens the client, once. `besideLedger`: the command opens the ledger, and so runs beside it. */
  connect(more?: LedgerConnectOptions): Promise<LedgerJourneys>;
  /** Opens the ledger that the environment names. @throws what `openConfiguredLedger` throws */
  openLedger(): Promise<Ledger>;
}

export interface Answer {
  /** A document. A text is JSON already. */
  answer?: object | string;
  /** The answer for people. Default: every fact of it. */
  lines?(): string[] | Promise<string[]>;
  /** Sentences for people below it: how they continue. */
  next?: readonly string[];
  exitCode?: number;
  /** Thrown once the answer has been printed. */
  problem?: Error | null;
}

export interface Service {
  /** One line of JSON for the program that started this process. If absent, the service prints only its lines. */
  ready?: object;
  /** Lines for people in its place. */
  lines(colors: Output['colors']): string[];
  /** Resolves, with a sentence, when the service is of no more use. */
  broken?: Promise<string>;
}

/** Forms of the argument `<id>`, for a command's help. */
export const RUN_ID = 'a journey’s id, pull:<pullId>, share:<shareId> or portfolio:<reviewId>';

const COMMON_OPTIONS = {
  api: [
    ['--api <url>', 'send it to this HTTP API, with a token, instead of running it in this process'],
    ['--token-file <path>', 'with --api: where the token is (default: API_TOKEN_FILE, else in API_TOKEN)'],
  ],
  server: [
    ['--address <host:port>', 'Temporal server (default: TEMPORAL_ADDRESS, else 127.0.0.1:7233)'],
    ['--namespace <name>', 'Temporal namespace (default: TEMPORAL_NAMESPACE, else default)'],
    ['--task-queue <name>', 'task queue of the workers (default: TASK_QUEUE)'],
  ],
  output: [
    ['--json', 'print JSON (the default where output is not a terminal)'],
    ['--debug', 'print stack traces of errors'],
  ],
} as const;

const GROUPS: Readonly<Record<string, string>> = {
  keys: 'manage the key ring that encrypts payloads and seals reports, and the key that signs decisions',
  signing: 'make keys that the HTTP API signs decisions with',
  audit: 'check the ledger against its audit chain',
  ledger: 'compare the ledger with Temporal, or accept an older copy of it',
  webhooks: 'list, send again and test the events for webhook endpoints',
  seen: 'take a flag off the list of holds once an operator has looked at it',
  portfolio: 'review a portfolio file: ACCTRVW for each of its rows',
  'legal-hold': 'keep the data of a run, or of a whole review, from disposal',
};

export function registerCommand(program: Command, row: CommandRow): void {
  const { name, description, members = [], options = [], common = ['server', 'output'], examples } = row;
  const [last = '', ...groups] = name.split(' ').reverse();
  const group = groups.reduceRight((parent, word) => {
    const known = parent.commands.find((candidate) => candidate.name() === word);
    return known ?? parent.command(word).description(GROUPS[word] ?? '');
  }, program);
  const command = group.command(last).description(description);
  for (const argument of row.arguments ?? []) command.argument(...argument);
  for (const member of members) command.addOption(toOption(member));
  for (const option of [...options, ...common.flatMap((set): readonly OptionRow[] => COMMON_OPTIONS[set])]) {
    if ('flags' in option) command.addOption(option);
    else command.option(...(option as [flags: string, words: string]));
  }
  const heading = 'Example, against `credit-journey dev`:';
  const lines = typeof examples === 'string' ? [examples] : [heading, ...examples.map((example) => `  $ ${example}`)];
  command.addHelpText('after', `\n${lines.join('\n')}`);
  command.action((...given: unknown[]) => runCommand(row, given));
}

async function runCommand(row: CommandRow, given: readonly unknown[]): Promise<void> {
  const named = (row.arguments ?? []).map(([name], index): [string, unknown] => [name.slice(1, -1), given[index]]);
  const args = Object.fromEntries(named.filter(([, value]) => value !== undefined)) as Record<string, string>;
  const options = given[named.length] as GivenOptions & ServerOptions;
  const { address, namespace, taskQueue } = options;
  const variables = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TASK_QUEUE: taskQueue };
  Object.assign(process.env, omitUndefined(variables));
  const output = createOutput(options);
  let connected: Promise<LedgerJourneys> | undefined;
  try {
    await using resources = new AsyncDisposableStack();
    const rule = args.id === undefined ? null : checkRunKey(args.id);
    if (rule) throw new InvalidInputError([{ path: `/${ID_NAMES[parseRunKey(args.id ?? '').kind]}`, rule }]);
    const context: Context = {
      args,
      options,
      output,
      resources,
      connect(more) {
        connected ??= connect(address, resources, more);
        return connected;
      },
      async openLedger() {
        const { openConfiguredLedger } = await import('../../operator/configured-ledger.ts');
        const ledger = await openConfiguredLedger();
        resources.defer(() => ledger.close());
        return ledger;
      },
    };
    if (row.serve) await runService(row, context);
    else await printAnswer((await row.run?.(context as never)) ?? {}, output);
  } catch (error) {
    const names = { ...mapOptionsByPath(row.members ?? []), ...mapArgumentsByPath(args) };
    // Some commands use the SDK's own client.
    const translated = connected
      ? (await import('../../client/connection/errors.ts')).translateServerError(error)
      : error;
    throw toOptionError(translated, names, options);
  }
}

/** `<id>` also gives the id of its kind. */
function mapArgumentsByPath(args: Readonly<Record<string, string>>): Record<string, string> {
  const { id, ...others } = args;
  const names = Object.fromEntries(Object.keys(others).map((name) => [`/${name}`, `<${name}>`]));
  return id === undefined ? names : { ...names, '/runKey': '<id>', [`/${ID_NAMES[parseRunKey(id).kind]}`]: '<id>' };
}

/** Loaded when a command runs, so that `--help` and wrong usage answer at once. */
async function connect(address: string | undefined, resources: AsyncDisposableStack, more: LedgerConnectOptions = {}) {
  const { LedgerJourneys } = await import('../../operator/ledger-journeys.ts');
  const { loadTraceEndpoint } = await import('../../config/config.ts');
  const endpoint = loadTraceEndpoint(process.env);
  if (endpoint !== undefined) {
    const { startTracing } = await import('../../telemetry/tracing.ts');
    const tracing = startTracing({ endpoint, serviceName: 'credit-journey-cli' });
    resources.defer(() => tracing.close());
  }
  // An error about it names the option.
  return resources.use(await LedgerJourneys.connect({ address, ...more }));
}

async function printAnswer({ answer, lines, next = [], exitCode, problem }: Answer, output: Output): Promise<void> {
  const { isJson, width } = output;
  if (answer !== undefined) {
    const format = lines ?? (() => formatDocument(readDocument(answer), width));
    output.answer(answer, isJson ? [] : [...(await format()), ...next.flatMap((sentence) => wrap(sentence, width))]);
  }
  if (problem) throw problem;
  process.exitCode = exitCode ?? process.exitCode;
}

/** Resolves when SIGINT or SIGTERM has stopped the service, and rejects if it cannot start or breaks. */
async function runService({ serve, unready = 0 }: CommandRow, context: Context): Promise<void> {
  // Loaded here, so that `--help` answers at once.
  const { waitForStopSignal } = await import('../../local/stop-signal.ts');
  // Taken before the start, so that a signal during it is not lost.
  const stopped = waitForStopSignal().then(() => undefined);
  const service = await Promise.race([serve?.(context as never), stopped]);
  if (service === null) return;
  // A service that is still starting ends with this process.
  if (!service) process.exit(unready);
  const { ready, lines, broken } = service;
  const output = createOutput(ready ? context.options : { json: false });
  output.event(ready ?? {}, [...lines(output.colors), 'Ctrl-C stops it']);
  const reason = await Promise.race([stopped, ...(broken ? [broken] : [])]);
  if (reason !== undefined) throw new Error(reason);
}

export function parseWholeNumber(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** `--since`: an instant, or how long ago. Returns RFC 3339. */
export function parseSince(text: string | undefined): string | undefined {
  if (text === undefined || parseInstantMs(text) !== null) return text;
  const durationMs = parseDurationMs(text);
  if (durationMs !== null) return new Date(Date.now() - durationMs).toISOString();
  throw new UsageError('--since must be an instant (2026-01-31T14:00:00Z) or how long ago (PT2H, P1DT12H)');
}
