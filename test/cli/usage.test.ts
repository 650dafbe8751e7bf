import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, mock, test } from 'node:test';
import type { Command } from 'commander';
import { createSampleJourney } from '../../src/cli/demo/sample-runs.ts';
import { EXIT } from '../../src/cli/output/errors.ts';
import { adaptCommands, resolveProgramCall } from '../../src/cli/output/program-call.ts';
import { INPUTS } from '../../src/messages/inputs/all-inputs.ts';
import { parseMessage } from '../../src/messages/inputs/parse-message.ts';
import { CLI, runCli, spawnCli } from './run-cli.ts';

const LAUNCHER = join(import.meta.dirname, '../../bin/credit-journey.js');

/** Every command and subcommand that has an action, as it is typed. */
async function commandsOfProgram(): Promise<Command[]> {
  const { argv } = process;
  // The program runs this when it is loaded.
  process.argv = [argv[0] ?? '', argv[1] ?? '', 'keys', '--help'];
  const write = mock.method(process.stdout, 'write', () => true);
  const { createProgram } = await import('../../src/cli.ts').finally(() => {
    process.argv = argv;
    write.mock.restore();
  });
  const leaves = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
  return leaves(await createProgram());
}

function typed(command: Command): string {
  return command.parent ? `${typed(command.parent)} ${command.name()}` : 'credit-journey';
}

describe('help', { concurrency: 4 }, () => {
  test('names every command of the program in 80 columns', async () => {
    const { code, stdout } = await runCli(['--help']);
    assert.equal(code, 0);
    for (const command of await commandsOfProgram()) {
      assert.match(stdout, new RegExp(`^  ${typed(command).split(' ')[1]} `, 'm'));
    }
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
  });

  test('exists for every command and subcommand, with an example', async () => {
    const commands = await commandsOfProgram();
    assert.ok(commands.length > 40, `${commands.length}`);
    for (const command of commands) {
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      const name = typed(command);
      assert.match(help, new RegExp(`\\$ (${name}|npm run ${name.replace('credit-journey ', '')})`), name);
    }
  });

  test('is also printed by the help command', async () => {
    for (const words of [['advance'], ['audit'], []]) {
      const [asked, option] = await Promise.all([runCli(['help', ...words]), runCli([...words, '--help'])]);
      assert.deepEqual([asked.code, asked.stdout], [0, option.stdout]);
    }
  });

  test('ends the program without an error message if its reader closes the pipe early', async () => {
    const child = spawnCli(['--help']);
    child.stdout?.destroy();
    const said = text(child.stderr as Readable);
    const [code] = await once(child, 'close');
    assert.equal(await said, '');
    assert.equal(code, EXIT.unread);
  });
});

/** Returns the options of a decision. An empty `attempt` leaves that option out. */
function decision(action: string, attempt = '1'): string[] {
  const all = ['--action', action, '--by', 'ops', '--reason', 'a test', '--provider-said', 'notAsked'];
  return attempt === '' ? all : [...all, '--attempt', attempt];
}

const SAMPLE = createSampleJourney({ journeyId: 'J1', auto: false });

describe('an invalid command fails with exit code 2 and without a server:', { concurrency: 4 }, () => {
  const cases: [string, string[], RegExp, string?][] = [
    ['no command', [], /Usage:/],
    ['an unknown command', ['begin'], /unknown command/],
    [
      'an unknown option',
      ['status', 'J1', '--wat=912-34-5678'],
      /^\{"error":\{"type":"UsageError","message":"unknown option '--wat'"\}\}\n$/,
    ],
    ['a slip of the pen', ['start', '--wach'], /"unknown option '--wach' \(Did you mean --watch\?\)"/],
    ['a short option that may be personal', ['status', 'J1', '-S912345678'], /"message":"unknown option"/],
    ['an unknown option with a quote in its value', ['status', 'J1', "--x=a'912345678"], /unknown option '--x'/],
    ['an unknown command that may be personal', ['912-34-5678'], /"message":"unknown command"/],
    ['a missing argument', ['status'], /missing required argument/],
    ['an extra argument', ['status', 'J1', '912-34-5678'], /too many arguments/],
    ['an id that may be personal', ['status', 'someone@example.com'], /\/journeyId/],
    ['neither file nor sample', ['start'], /--file or --sample/],
    ['file and sample', ['start', '--file', '-', '--sample'], /--file or --sample/],
    [
      'a file that is missing',
      ['start', '--file', '/nonexistent/x.json'],
      /cannot be read \(ENOENT\)","option":"--file"/,
    ],
    ['input that is not JSON', ['start', '--file', '-'], /must be JSON; it is not from line 1/, '{"ssn": 912345678'],
    ['input of the wrong kind', ['start', '--file', '-'], /must be an object/, '[912345678]'],
    ['a wrong field', ['start', '--file', '-'], /\/endUserCode/, JSON.stringify({ ...SAMPLE, endUserCode: 7 })],
    [
      'a list of applicants alone',
      ['resolve', 'J1', '--file', '-'],
      /as in \{\\"applicants\\":\[…\]\}/,
      '[{"ssn":"912345678"}]',
    ],
    ['an empty file', ['start', '--file', '-'], /standard input is empty/, ''],
    ['a file in UTF-16', ['start', '--file', '-'], /must be UTF-8: it is UTF-16/, '\uFFFD\uFFFD{}'],
    [
      'an unknown field, with the names of the known fields',
      ['start', '--file', '-'],
      /"path":"","rule":"has an unknown field; known are journeyId/,
      `\uFEFF${JSON.stringify({ ...SAMPLE, endUserCod: 912345678 })}`,
    ],
    [
      'a field that may be personal, without its name',
      ['advance', 'J1', '--to', 'PREAPP', '--file', '-'],
      /"path":"","rule":"has an unknown field; known are/,
      JSON.stringify({ '912-34-5678': 1 }),
    ],
    ['a missing option, which is named', ['advance', 'J1'], /"path":"\/to","rule":"is required","option":"--to"/],
    [
      'a missing field of a file, with its path',
      ['advance', 'J1', '--file', '-'],
      /"\/to","rule":"is required"}/,
      '{}',
    ],
    ['an invalid argument, which is named', ['advance', 'J@1', '--to', 'PREAPP'], /"option":"<journeyId>"/],
    ['an unknown stage', ['advance', 'J1', '--to', 'S912345678'], /\/to/],
    ['a grant without evidence', ['consent', 'J1', '--decision', 'granted'], /\/evidence/],
    ...(
      [
        ['consent', 'J1', '/journeyId', { journeyId: 'J912' }],
        ['consent', 'share:S1', '/journeyId', { journeyId: 'J912' }],
        ['consent', 'share:S1', '/shareId', { journeyId: 'share:S1', shareId: 'S912' }],
        ['withdraw', 'J1', '/journeyId', { journeyId: 'J912' }],
        ['extend', 'J1', '/journeyId', { journeyId: 'J912' }],
        ['share', 'J1', '/journeyId', { journeyId: 'J912' }],
        ['share', 'pull:P1', '/report/pullId', { report: { pullId: 'P912' } }],
        ['resolve', 'J1 T1', '/customerTraceNumber', { customerTraceNumber: 'T912' }],
      ] as const
    ).map(([command, ids, path, content]): [string, string[], RegExp, string] => [
      `a file of ${command} ${ids} with another ${path}`,
      [command, ...ids.split(' '), '--file', '-'],
      new RegExp(`"UsageError","message":"${path} of the file is not that of the arguments`),
      JSON.stringify(content),
    ]),
    ['a share without an end user', ['share', 'J1', '--share-id', 'S1'], /\/share\/endUserCode/],
    ['a withdrawal without a reason', ['withdraw', 'J1', '--by', 'ops'], /\/reason/],
    [
      'an unknown failure type',
      ['holds', '--failure-type', 'S912345678'],
      /must be one of .*OutcomeUnknown.*"option":"--failure-type"/,
    ],
    ['an invalid time', ['holds', '--since', '912-34-5678'], /--since must be an instant/],
    ['a comparison without a start time', ['ledger', 'compare'], /--since is required: it says from when on/],
    ['a decision without an inquiry', ['resolve', '--action', 'abandon'], /give either an id or --all/],
    [
      'a decision without its options',
      ['resolve', 'J1', 'T1'],
      /"option":"--attempt".*"option":"--action".*"option":"--by".*"option":"--reason".*"option":"--provider-said"/,
    ],
    [
      'an accepted record without its reference',
      ['resolve', 'J1', 'T1', ...decision('accept'), '--outcome', 'record'],
      /"\/reference","rule":"is required for accept with a record","option":"--report-reference-number/,
    ],
    [
      'an unknown action',
      ['resolve', 'J1', 'T1', ...decision('S912345678')],
      /must be one of resend, .*"option":"--action"/,
    ],
    [
      'an invalid attempt number',
      ['resolve', 'J1', 'T1', ...decision('abandon', '9123456789')],
      /"option":"--attempt"/,
    ],
    [
      'a reference without consumers',
      ['resolve', 'J1', 'T1', ...decision('accept'), '--outcome', 'record', '--file', '-'],
      /\/reference\/applicants/,
      JSON.stringify({
        reference: { reportReferenceNumber: 'R1', requestedAt: '2026-01-02T03:04:05Z', applicants: [] },
      }),
    ],
    ['--all without a type', ['resolve', '--all', ...decision('abandon')], /--all needs a --failure-type/],
    [
      '--all together with an id',
      ['resolve', 'J1', '--all', '--failure-type', 'OutcomeUnknown'],
      /give either an id or --all/,
    ],
    ['a filter together with an id', ['resolve', 'J1', '--product-code', 'CR'], /--product-code belongs to --all/],
    ['an unknown product in a filter', ['holds', '--product-code', 'S912345678'], /"option":"--product-code"/],
    [
      '--all with an attempt number',
      ['resolve', '--all', '--failure-type', 'Throttled', ...decision('abandon')],
      /to one inquiry/,
    ],
    [
      '--all with an amendment',
      ['resolve', '--all', '--failure-type', 'RequestRefused', ...decision('amend', ''), '--file', '-'],
      /to one inquiry/,
      '[]',
    ],
    ['an unknown product', ['report', 'J1', 'S912345678'], /must be one of CR, .*<productCode>/],
    ['an invalid limit', ['list', '--limit', 'S912345678'], /--limit/],
    [
      'an unknown work class',
      ['start', '--file', '-', '--work-class', 'S912345678'],
      /"option":"--work-class"/,
      JSON.stringify(SAMPLE),
    ],
    ['a timeout of zero', ['doctor', '--timeout', '0'], /--timeout must be .* from 1 to 999/],
  ];
  for (const [what, args, expected, stdin] of cases) {
    test(what, async () => {
      const { code, stdout, stderr } = await runCli(args, { ...(stdin === undefined ? {} : { stdin }) });
      assert.equal(code, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, expected);
      assert.doesNotMatch(stderr, /912|someone|\n\s+at /);
    });
  }

  test('--sample outside the sandbox', async () => {
    const given = { 'GATEWAY_ENVIRONMENT is uat': { GATEWAY_ENVIRONMENT: 'uat' }, 'contains uat': {} };
    for (const [rule, env] of Object.entries(given)) {
      for (const command of ['start', 'pull']) {
        const { code, stdout, stderr } = await runCli([command, '--sample', '--task-queue', 'loans-uat'], { env });
        assert.equal(code, 2, stderr);
        assert.equal(stdout, '');
        assert.match(stderr, new RegExp(`--sample is only for the sandbox: .*${rule}`));
      }
    }
  });

  test('a configuration with several problems, all of which are listed', async () => {
    const { code, stderr } = await runCli(['worker'], { env: { GATEWAY_ENVIRONMENT: 'uat' } });
    assert.equal(code, 2);
    const { error } = JSON.parse(stderr);
    assert.equal(error.type, 'invalidConfiguration');
    assert.ok(error.problems.length >= 9);
  });
});

test('printed commands use the form in which the program was called', () => {
  const cwd = () => '/home';
  const call = (path: string, env = {}) => resolveProgramCall({ argv: ['node', path], env, cwd });
  assert.equal(call('/usr/bin/credit-journey'), 'credit-journey');
  assert.equal(call('/home/node_modules/.bin/credit-journey'), 'npx credit-journey');
  assert.equal(call('/home/src/cli.ts', { npm_command: 'exec' }), 'npx credit-journey');
  assert.equal(call('/home/src/cli.ts', { npm_lifecycle_event: 'demo' }), 'npx credit-journey');
  assert.match(call('/home/src/cli.ts'), /^node \/.*\/bin\/credit-journey\.js$/);
  const text = '`credit-journey holds`, `npx credit-journey list`, credit-journey-cli, credit-journey --help';
  const expected =
    '`npx credit-journey holds`, `npx credit-journey list`, credit-journey-cli, npx credit-journey --help';
  assert.equal(adaptCommands(text, 'npx credit-journey'), expected);
  assert.equal(adaptCommands(text, 'credit-journey'), text);
});

test('an unreachable server ends the command with exit code 1, with a stack trace only under --debug', async () => {
  const args = ['status', 'J1', '--address', '127.0.0.1:1'];
  const [plain, debug] = await Promise.all([runCli(args), runCli([...args, '--debug'])]);
  assert.equal(plain.code, 1);
  assert.match(plain.stderr, /nothing answers at 127\.0\.0\.1:1/);
  assert.doesNotMatch(plain.stderr, /\n\s+at /);
  assert.match(debug.stderr, /\n\s+at /);
});

test('the sample is a valid journey with invented personal data', () => {
  assert.deepEqual(parseMessage(INPUTS.lendingJourney, SAMPLE, { maxApplicants: 2 }), SAMPLE);
  for (const { ssn, emailAddress, phones } of SAMPLE.applicants) {
    assert.match(ssn, /^9\d{4}00(?:01|20)$/);
    assert.match(emailAddress, /@example\.com$/);
    assert.match(phones[0]?.phoneNumber ?? '', /^\d{3}55501\d\d$/);
  }
});

test('the version is printed without a command, and so without the API and Temporal’s SDK', async () => {
  const hooks = 'load: (url, context, next) => (console.error(url), next(url, context))';
  const listed = `import { registerHooks } from 'node:module'; registerHooks({ ${hooks} });`;
  for (const flag of ['--version', '-V']) {
    const preload = ['--import', `data:text/javascript,${encodeURIComponent(listed)}`];
    const child = spawn(process.execPath, [...preload, CLI, flag]);
    const [version, loaded] = await Promise.all([text(child.stdout), text(child.stderr)]);
    assert.match(version, /^\d+\.\d+\.\d+\n$/);
    assert.match(loaded, /src\/cli\.ts/);
    assert.doesNotMatch(loaded, /src\/api|@temporalio|zod/);
  }
});

test('the launcher caches compiled code in the user’s own directory, and nowhere without one', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'credit-journey-home-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const { NODE_COMPILE_CACHE: _, XDG_CACHE_HOME: __, HOME: ___, ...bare } = process.env;
  for (const env of [{ HOME: home }, {}]) {
    const launched = spawn(process.execPath, [LAUNCHER, '--version'], {
      stdio: 'ignore',
      env: { ...bare, ...env, TMPDIR: home },
    });
    assert.deepEqual(await once(launched, 'exit'), [0, null]);
    assert.deepEqual(await readdir(home), ['.cache']);
  }
  assert.deepEqual(await readdir(join(home, '.cache', 'credit-journey')), ['compiled']);
});
