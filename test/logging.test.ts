import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { inquiryLogContext } from '../src/activities/log-context.ts';
import type { LogLevel } from '../src/config/variables.ts';
import { createLogger, writeEntry } from '../src/telemetry/logging.ts';
import { openFullPipe } from './support/full-pipe.ts';

const SENTINEL = 'Zaphod-Sentinel';
const SSN = '912-34-5678';

type Line = Record<string, unknown>;

/** A logger and its output. */
function recorded(level: LogLevel = 'TRACE') {
  let text = '';
  const write = (line: string) => {
    text += line;
  };
  const logger = createLogger(level, { write });
  const lines = () =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line): Line => JSON.parse(line));
  // A timestamp contains any four digits sooner or later.
  return { logger, lines, text: () => text.replaceAll(/"time":\d+/g, '') };
}

function jsonError(): unknown {
  try {
    return JSON.parse(`${SENTINEL} ${SSN}`);
  } catch (error) {
    return error;
  }
}

function nested(): Error {
  const cause = Object.assign(new Error(`${SENTINEL}\n    at ${SENTINEL}.ts:1:1`), { body: SENTINEL });
  const error = new ApplicationFailure(SENTINEL, 'OutcomeUnknown', true, [{ ssn: SSN }], cause);
  return Object.assign(new Error(`${SENTINEL} ${SSN}`, { cause: error }), { response: { headers: SENTINEL } });
}

describe('a log line holds only allowed content, given', () => {
  const errors: [string, () => unknown][] = [
    ['an error of JSON.parse', jsonError],
    ['an error with causes, bodies and a message that looks like a stack', nested],
    [
      'an error with a name, a code and a type that are texts',
      () => Object.assign(new Error('x'), { name: `a ${SENTINEL}`, code: `a ${SENTINEL}`, type: `a ${SENTINEL}` }),
    ],
    ['an error from another JavaScript realm', () => runInNewContext(`new TypeError('${SENTINEL}')`)],
    ['a text that was thrown', () => SENTINEL],
    ['an object that was thrown', () => ({ message: SENTINEL })],
  ];
  for (const [what, make] of errors) {
    test(what, () => {
      const { logger, text } = recorded();
      const error = make();
      logger.error({ error }, 'it failed');
      logger.error({ err: error }, 'it failed');
      // A bare text would be the message.
      if (typeof error === 'object') logger.error(error as object);
      logger.child({ error }).error('it failed');
      writeEntry(logger, { level: 'ERROR', message: 'it failed', meta: { error } });
      assert.doesNotMatch(text(), /Sentinel|5678/);
      assert.match(text(), /it failed/);
    });
  }

  test('unknown fields, objects under known names, and ids that hold an SSN', () => {
    const { logger, text, lines } = recorded();
    logger.info(
      { applicant: SENTINEL, state: { name: SENTINEL }, workflowId: `journey-${SSN}`, durationMs: 3 },
      'done',
    );
    assert.doesNotMatch(text(), /Sentinel|5678/);
    assert.equal(lines()[0]?.durationMs, 3);
  });

  test('a message that was composed from values', () => {
    const { logger, text } = recorded();
    logger.warn('%s was refused', SENTINEL);
    logger.warn({}, '%s was refused', SENTINEL);
    logger.warn(`Unexpected token 'Z', "${SENTINEL}" is not valid JSON`);
    assert.doesNotMatch(text(), /Sentinel/);
  });

  const foreign: [string, string, object][] = [
    ['core', 'Failing workflow task', { run_id: 'run-1', failure: `Failure { message: "${SENTINEL}" }` }],
    ['core', `Workflow task failed for 4711: ${SENTINEL}`, {}],
    ['core', `Error when recording heartbeat: Status { details: ${SENTINEL} }`, { target: 'temporalio_sdk_core' }],
    ['worker', `Error while processing ActivityTask.start: ${SENTINEL}`, { taskEncoded: SENTINEL }],
    ['worker', `Error converting native log entry: SyntaxError: "${SENTINEL}"`, { entry: SENTINEL }],
  ];
  for (const [sdkComponent, message, meta] of foreign) {
    test(`a warning of the SDK’s ${sdkComponent} that prints its data: ${message.slice(0, 30)}`, () => {
      const { logger, text, lines } = recorded();
      writeEntry(logger, { level: 'WARN', message, meta: { sdkComponent, ...meta } });
      assert.doesNotMatch(text(), /Sentinel/);
      assert.ok(message.startsWith(String(lines()[0]?.msg)) && lines()[0]?.msg !== '');
    });
  }

  test('calls of the logger in src, whose messages are constant', () => {
    const sources = globSync('src/**/*.ts', { cwd: join(import.meta.dirname, '..') });
    const calls = sources.flatMap((path) => {
      const text = readFileSync(join(import.meta.dirname, '..', path), 'utf8');
      return [...text.matchAll(/\b(?:log|logger)\??\.(?:trace|debug|info|warn|error)\(([^;]*?)\);/gs)].map(
        ([, given = '']) => ({ path, given }),
      );
    });
    assert.ok(calls.length > 5);
    assert.deepEqual(
      calls.filter(({ given }) => given.includes('${') || /\.(message|stack)\b/.test(given)),
      [],
    );
    // The logger describes errors itself. A description is one more object, whose content it does not know, and is dropped.
    assert.deepEqual(
      calls.filter(({ given }) => given.includes('toErrorFields(')),
      [],
    );
  });
});

describe('the log entry of an error', () => {
  test('has its class, its failure type and its place in the source', () => {
    const { logger, lines } = recorded();
    logger.error({ error: nested() }, 'it failed');
    const { name, type, at } = (lines().at(0)?.error ?? {}) as Line;
    assert.deepEqual([name, type], ['Error', 'OutcomeUnknown']);
    assert.match(String(at), /^logging\.test\.ts:\d+$/);
  });
});

describe('the log lines of a run', () => {
  const TRACE_NUMBER = 'PQABCDEFGHIJKLMNOPQRSTUVWX00';
  const args = { inquiry: { customerTraceNumber: TRACE_NUMBER, productCode: 'PREQUAL' }, attempt: 2 };

  /** Runs an activity and returns its lines. */
  async function linesOf(activity: () => Promise<unknown>): Promise<Line[]> {
    const { logger, lines } = recorded();
    const environment = new MockActivityEnvironment(
      { workflowExecution: { workflowId: 'journey-J-1', runId: 'run-1' } },
      { interceptors: [inquiryLogContext], logger: new DefaultLogger('TRACE', (entry) => writeEntry(logger, entry)) },
    );
    await environment.run(activity as (given: unknown) => Promise<unknown>, args).catch(() => {});
    return lines();
  }

  test('have journey, trace number, product and attempt, also if the SDK writes them', async () => {
    const all = await linesOf(async () => {
      log.info('in the activity', { httpStatus: 200 });
      throw new Error(SENTINEL);
    });
    // The SDK logs the start before it has decoded the arguments.
    const lines = all.filter(({ msg }) => msg !== 'Activity started');
    assert.ok(lines.length >= 2, 'ours, and that the activity has failed');
    for (const line of lines) {
      assert.equal(line.journeyId, 'J-1');
      assert.equal(line.customerTraceNumber, TRACE_NUMBER);
      assert.equal(line.productCode, 'PREQUAL');
      assert.equal(line.inquiryAttempt, 2);
    }
    assert.equal(lines.find(({ msg }) => msg === 'in the activity')?.httpStatus, 200);
  });

  test('that a workflow writes have its journey', () => {
    const { logger, lines } = recorded();
    const meta = { sdkComponent: 'workflow', workflowId: 'journey-J-1', runId: 'run-1' };
    writeEntry(logger, { level: 'WARN', message: 'an outcome was not recorded: another ledger', meta });
    writeEntry(logger, {
      level: 'WARN',
      message: 'Failing workflow task',
      meta: { sdkComponent: 'core', workflow_id: 'journey-J-1' },
    });
    assert.deepEqual(
      lines().map(({ journeyId, msg }) => [journeyId, msg]),
      [
        ['J-1', 'an outcome was not recorded: another ledger'],
        ['J-1', 'Failing workflow task'],
      ],
    );
  });
});

test('a log level leaves out the lines below it', () => {
  const { logger, lines } = recorded('WARN');
  logger.info('too little');
  logger.warn('enough');
  assert.deepEqual(
    lines().map(({ msg }) => msg),
    ['enough'],
  );
});

test('a program goes on while the pipe of its log is full, and its log does when a reader comes back', {
  skip: process.platform === 'win32' && 'Windows has no named pipes in the file system',
}, async (t) => {
  const full = await openFullPipe(t);
  const program = `
    import { createLogger } from ${JSON.stringify(new URL('../src/telemetry/logging.ts', import.meta.url).href)};
    // As in the CLI: it makes writes to the pipe non-blocking.
    process.stderr.on('error', () => {});
    const logger = createLogger();
    for (let line = 0; line < 20_000; line++) logger.info('a line without a reader');
    console.log('done');
    process.stdin.once('data', () => logger.info('a line with a reader'));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', full],
    timeout: 20_000,
    killSignal: 'SIGKILL',
  });
  const ended = once(child, 'exit');
  const [said] = await once(child.stdout as Readable, 'data');
  assert.equal(String(said), 'done\n');
  readSync(full, Buffer.alloc(1024 * 1024));
  child.stdin?.end('go on');
  assert.deepEqual(await ended, [0, null]);
  const rest = Buffer.alloc(1024);
  assert.match(rest.toString('utf8', 0, readSync(full, rest)), /a line with a reader/);
});
