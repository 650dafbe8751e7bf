/** Arguments that no command was made for. The program runs in this process, with streams, files and configuration of the case's own. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import fc from 'fast-check';
import { EXIT } from '../../src/cli/output/exit-codes.ts';
import { aConsent, aDecision, aJourney } from '../validation/sample-messages.ts';
import { type OpenTarget, property } from './property.ts';
import { assertNothingPersonal, SENTINEL, SSNS } from './sentinel.ts';
import { hostileText } from './values.ts';

/** Would start servers, or look around on this machine: of these only the arguments are parsed. */
const PARSED_ONLY = ['demo', 'dev', 'worker', 'sandbox', 'codec-server', 'setup', 'doctor'];

/** Files for the cases. An error about a file prints its path, so these paths hold no personal data. */
const FILES = {
  'good.json': JSON.stringify(aJourney()),
  'consent.json': JSON.stringify(aConsent()),
  'decision.json': JSON.stringify(aDecision()),
  'hostile.json': `{"journeyId":"${SENTINEL}","ssn":"${SSNS[0]}","applicants":[{"${SENTINEL}":1}]}`,
  'broken.json': `{"ssn": ${SSNS[0]} ${SENTINEL}`,
  'list.json': `["${SENTINEL}"]`,
  'empty.json': '',
};

const GOOD_WORDS = [
  ...[
    'J1',
    'T1',
    'S1',
    '1A',
    'PREAPP',
    'PREQUAL',
    'granted',
    'revoked',
    'abandon',
    'resend',
    'accept',
    'amend',
    'record',
    'ops',
    '1',
    '2',
  ],
  ...[
    'OutcomeUnknown',
    'notAsked',
    'posted',
    'P1D',
    '2026-01-01',
    '2026-01-01T00:00:00Z',
    'payload',
    'csv',
    'json',
    'default',
    '127.0.0.1:1',
  ],
] as const;

interface Spec {
  path: string[];
  flags: { name: string; takesValue: boolean; isFile: boolean }[];
}

function specsOf(command: Command, path: string[] = []): Spec[] {
  const options = command.options.filter(({ long }) => long !== '--debug' && long !== '--version');
  const flags = options.map(({ long, short, flags: text, required, optional }) => ({
    name: long ?? short ?? '',
    takesValue: required || optional,
    isFile: /<(?:path|file)>/.test(text),
  }));
  return [{ path, flags }, ...command.commands.flatMap((inner) => specsOf(inner, [...path, inner.name()]))];
}

/** What a shell can hand over. */
const argument = hostileText.map((text) => Buffer.from(text.replaceAll('\0', ''), 'utf8').toString('utf8'));
const file = fc.constantFrom(...Object.keys(FILES), 'none.json', '-', '.', '');

function tokensOf({ flags }: Spec): fc.Arbitrary<string[]> {
  const value = fc.oneof({ arbitrary: fc.constantFrom(...GOOD_WORDS), weight: 3 }, { arbitrary: argument, weight: 2 });
  const unknown = argument.map((text) => [`--${text}`]);
  const pieces: fc.Arbitrary<string[]>[] = [
    value.map((text) => [text]),
    value.map((text) => [text]),
    unknown,
    argument.map((text) => [`-${text}`]),
    argument.map((text) => [`--x=${text}`]),
    fc.constant(['--']),
  ];
  for (const { name, takesValue, isFile } of flags) {
    const own = isFile ? file : value;
    if (!takesValue)
      pieces.push(
        fc.constant([name]),
        argument.map((text) => [isFile ? name : `${name}=${text}`]),
        argument.map((text) => [name + text]),
      );
    else
      pieces.push(
        own.map((text) => [name, text]),
        own.map((text) => [name, text]),
        own.map((text) => [`${name}=${text}`]),
        fc.constant([name]),
      );
  }
  return fc.array(fc.oneof(...pieces), { maxLength: 7 }).map((lists) => lists.flat());
}

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  connections: number;
}

type Program = typeof import('../../src/cli.ts');

export async function openCli(): Promise<OpenTarget> {
  const directory = await mkdtemp(join(tmpdir(), 'fuzz-cli-'));
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(directory, name), content, { mode: 0o600 });
  const restore = enter(directory);
  const wasTerminal = process.stdout.isTTY;
  const program = await loadProgram();
  const specs = specsOf(await program.createProgram());
  const fileFlags = new Set(specs.flatMap(({ flags }) => flags.filter(({ isFile }) => isFile).map(({ name }) => name)));
  const argumentsOf = fc.oneof(
    ...specs.map((spec) => tokensOf(spec).map((tokens) => [...spec.path, ...tokens])),
    fc.array(argument, { maxLength: 3 }),
  );
  return {
    properties: [
      property({
        name: 'arguments',
        weight: 1,
        cases: fc.record({
          argv: argumentsOf,
          stdin: fc.constantFrom(...Object.values(FILES)),
          isTerminal: fc.boolean(),
        }),
        check: async ({ argv, stdin, isTerminal }) => {
          // A terminal breaks lines, and then `withoutPaths` could not find a path any more.
          process.stdout.isTTY = isTerminal && !argv.some((word) => fileFlags.has(word));
          try {
            assertOrderly(withoutPaths(await run(program, argv, stdin), argv, fileFlags), argv);
          } finally {
            process.stdout.isTTY = wasTerminal;
          }
        },
      }),
    ],
    close: async () => {
      restore();
      await rm(directory, { recursive: true });
    },
  };
}

/** In a directory of its own, with a configuration that leads nowhere before anything is connected to. */
function enter(directory: string): () => void {
  const { env } = process;
  const before = process.cwd();
  const ours = /^(?:TEMPORAL_|GATEWAY_|LEDGER_|KEY_RING|TASK_QUEUE|WORKER_|CODEC_|CONSENT_|OTEL_)/;
  process.env = Object.fromEntries(Object.entries(env).filter(([name]) => !ours.test(name)));
  process.env.TEMPORAL_CONFIG_FILE = join(directory, 'none.toml');
  process.env.NO_COLOR = '1';
  process.chdir(directory);
  return () => {
    process.env = env;
    process.chdir(before);
  };
}

/** The module runs what it was started with: here that is to say its version. */
async function loadProgram(): Promise<Program> {
  const { argv } = process;
  process.argv = [argv[0] ?? '', argv[1] ?? '', '--version'];
  try {
    const { result } = await captured(() => import('../../src/cli.ts'));
    // It speaks for a program that ends; here an uncaught error has to be seen whole.
    process.removeAllListeners('uncaughtException');
    process.exitCode = 0;
    return result;
  } finally {
    process.argv = argv;
  }
}

async function run({ createProgram, runProgram }: Program, argv: string[], stdin: string): Promise<Ran> {
  const program = await createProgram();
  for (const command of program.commands) if (PARSED_ONLY.includes(command.name())) command.action(() => {});
  const input = Object.getOwnPropertyDescriptor(process, 'stdin');
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(stdin)]), configurable: true });
  let connections = 0;
  const onSocket = () => {
    connections += 1;
  };
  subscribe('net.client.socket', onSocket);
  process.exitCode = 0;
  try {
    const { result, stdout, stderr } = await captured(() => runProgram(argv, program));
    return { code: result, stdout, stderr, connections };
  } finally {
    process.exitCode = 0;
    unsubscribe('net.client.socket', onSocket);
    if (input) Object.defineProperty(process, 'stdin', input);
  }
}

async function captured<T>(act: () => Promise<T>): Promise<{ result: T; stdout: string; stderr: string }> {
  const texts = { stdout: '', stderr: '' };
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write };
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = ((chunk: string | Uint8Array) => {
      texts[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
      return true;
    }) as typeof process.stdout.write;
  }
  try {
    return { result: await act(), ...texts };
  } finally {
    process.stdout.write = writes.stdout;
    process.stderr.write = writes.stderr;
  }
}

const SHORTEST_PATH = 8;

/** Removes paths from the errors. A file option takes the next argument as its path, and errors may print paths. */
function withoutPaths(ran: Ran, argv: readonly string[], fileFlags: ReadonlySet<string>): Ran {
  let { stderr } = ran;
  for (const [index, flag] of argv.entries()) {
    const path = argv[index + 1];
    // A shorter one holds no sentinel, and would be found in the words of the error itself.
    if (fileFlags.has(flag) && path && path.length >= SHORTEST_PATH)
      stderr = stderr.replaceAll(JSON.stringify(path).slice(1, -1), '<path>');
  }
  return { ...ran, stderr };
}

function assertOrderly({ code, stdout, stderr, connections }: Ran, argv: readonly string[]): void {
  assert.ok(Object.values<number>(EXIT).includes(code), `exit code ${code}`);
  assert.equal(connections, 0, 'it connected to something before its configuration was read');
  assertNothingPersonal(stderr, 'stderr');
  assert.doesNotMatch(stderr, /^ {4}at /m, 'a stack trace');
  if (code === EXIT.done || code === EXIT.needsPerson) return;
  assertNothingPersonal(stdout, 'stdout');
  const isHelp = argv.length === 0 || stderr.startsWith('Usage:');
  if (stderr.startsWith('{')) assert.match(stderr, /^\{"error":\{.*\}\}\n$/, 'one line of JSON');
  else if (!isHelp) assert.equal(stderr.match(/^error: /gm)?.length, 1, `one error is told: ${JSON.stringify(stderr)}`);
}
