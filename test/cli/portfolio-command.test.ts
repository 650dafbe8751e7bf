/** The `portfolio` command: its answers, exit codes and refusals. All tests share one worker. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pc from 'picocolors';
import { formatStatus } from '../../src/cli/output/status-lines.ts';
import type { PortfolioResult, PortfolioStatus, RowResult } from '../../src/messages/portfolio/shapes.ts';
import type { Problem } from '../../src/model/problems.ts';
import { csvText, writePortfolio } from '../support/portfolio-files.ts';
import { type CommandStage, openCommandStage } from './command-stage.ts';

let directory: string;
let stage: CommandStage;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-portfolios-'));
  const usual = { environment: 'sandbox', customerId: 'SANDBOX0001' };
  const profiles = { flagging: { ...usual, ssnMismatch: 'flag' } };
  const file = join(directory, 'profiles.json');
  await writeFile(file, JSON.stringify({ profiles }));
  stage = await openCommandStage({ env: { PORTFOLIO_DIR: directory, GATEWAY_PROFILES_FILE: file } });
});
after(async () => {
  await stage?.close();
  await rm(directory, { recursive: true, force: true });
});

/** Runs a `portfolio` command, or `status` and `watch`, which accept any run. */
const portfolio = (...[name = '', id = '', ...more]: string[]) => {
  const isOfAnyRun = name === 'status' || name === 'watch';
  return stage.shell.cli(isOfAnyRun ? [name, `portfolio:${id}`, ...more] : ['portfolio', name, id, ...more], stage.env);
};
const ORDER = ['--end-user-code', 'EU123', '--permissible-purpose-code', '01'];
const WORD = ['--by', 'ops', '--reason', 'a test'];

/** Runs a command, asserts its exit code, and returns its one document. */
async function answered<T = PortfolioStatus>(code: number, ...args: string[]): Promise<T> {
  const ran = await portfolio(...args);
  assert.equal(ran.code, code, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
  return JSON.parse(ran.stdout) as T;
}

interface Refusal {
  type: string;
  message: string;
  problems?: Problem[];
}

async function refused(code: number, ...args: string[]): Promise<Refusal> {
  const ran = await portfolio(...args);
  assert.equal(ran.code, code, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
  assert.equal(ran.stdout, '');
  return (JSON.parse(ran.stderr) as { error: Refusal }).error;
}

/** Writes a portfolio file. Returns its name and an id for its review. */
async function portfolioOf(lastFours: readonly string[], folder?: string): Promise<{ file: string; reviewId: string }> {
  const reviewId = `R-${randomUUID().slice(0, 13)}`;
  const text = csvText(lastFours.length, (index) => lastFours[index] ?? '0001');
  return { reviewId, file: await writePortfolio(directory, `${reviewId}.csv`, text, folder) };
}

const linesOf = <T>(stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);

async function postedCount(): Promise<number> {
  return ((await (await fetch(`${stage.harness.sandboxUrl}/_sandbox/inquiries`)).json()) as unknown[]).length;
}

describe('a portfolio review on the command line', () => {
  test('is started once, watched until only a hold is left, resolved, and watched to its end', async () => {
    const { file, reviewId } = await portfolioOf(['0001', '4002', '0001']);
    const order = ['start', file, '--review-id', reviewId, ...ORDER];
    const watched = await portfolio(...order, '--watch');
    assert.equal(watched.code, 3, watched.stderr);
    const [started, ...statuses] = linesOf<PortfolioStatus>(watched.stdout);
    assert.equal(started?.reviewId, reviewId);
    assert.equal(statuses.at(-1)?.state, 'held');
    // A repeated start finds the review. A start with other input under its id is refused.
    assert.equal((await answered<{ reviewId: string }>(0, ...order)).reviewId, reviewId);
    assert.equal((await refused(1, ...order, '--window', '7')).type, 'differs');

    assert.equal((await answered(3, 'status', reviewId, '--json')).progress.held, 1);
    const { holds } = await answered(3, 'status', reviewId);
    const { customerTraceNumber = '' } = holds[0] ?? {};
    const decision = ['--attempt', '1', '--action', 'abandon', '--provider-said', 'notPosted', ...WORD];
    const resolve = ['resolve', `portfolio:${reviewId}`, customerTraceNumber, '--decision-id', 'D1', ...decision];
    const decided = await stage.shell.cli(resolve, stage.env);
    assert.equal(decided.code, 0, decided.stderr);
    assert.equal((await portfolio('watch', reviewId)).code, 0);
    const { state, progress, holds: left } = await answered(0, 'status', reviewId);
    assert.deepEqual([state, progress.record, progress.abandoned, left], ['completed', 2, 1, []]);
  });

  test('counts and marks the rows whose report has another SSN, and appears in the list of runs', async () => {
    const { file, reviewId } = await portfolioOf(['0001', '4027', '4002', '4027'], 'flagging/EU123');
    const order = ['start', file, '--review-id', reviewId, ...ORDER, '--profile', 'flagging'];
    const watched = await portfolio(...order, '--watch');
    assert.equal(watched.code, 3, watched.stderr);
    const held = await answered(3, 'status', reviewId);
    assert.deepEqual([held.progress.flagged, held.progress.record, held.progress.held], [2, 3, 1]);
    const lines = formatStatus(held, { width: 80, colors: pc.createColors(false) }).join('\n');
    assert.match(lines, /another SSN than the request: 2 rows, which the result file\s+marks\./);
    const handle = stage.harness.client.workflow.getHandle(`portfolio-${reviewId}`);
    const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    assert.match(currentDetails, /another SSN than the request:\*\* 2 rows, which the result file marks\./);

    const { customerTraceNumber = '' } = held.holds[0] ?? {};
    const decision = ['--attempt', '1', '--action', 'abandon', '--provider-said', 'notPosted', ...WORD];
    await stage.shell.cli(['resolve', `portfolio:${reviewId}`, customerTraceNumber, ...decision], stage.env);
    await portfolio('watch', reviewId, '--through-holds');
    const { searchAttributes } = await handle.describe();
    assert.deepEqual(searchAttributes.NeedsAttention, ['ssnMismatch']);
    const see = ['seen', 'run', `portfolio:${reviewId}`, '--flag', 'ssnMismatch', ...WORD];
    const seen = await stage.shell.cli(see, stage.env);
    assert.deepEqual([seen.code, JSON.parse(seen.stdout)], [0, { accepted: true, duplicate: false }], seen.stderr);
    assert.equal((await stage.shell.cli(see, stage.env)).code, 1, 'nothing of it is on the list any more');
    const result = (await handle.result()) as PortfolioResult;
    assert.equal(result.flagged, 2);
    const rows = linesOf<RowResult>(await readFile(join(directory, result.resultFile), 'utf8'));
    assert.deepEqual(rows.map(({ line, attention }) => [line, attention]).sort(), [
      [2, undefined],
      [3, 'ssnMismatch'],
      [4, undefined],
      [5, 'ssnMismatch'],
    ]);
  });

  test('can be paused, resumed and withdrawn, reports repeats as duplicates, and refuses commands after its end', async () => {
    const { file, reviewId } = await portfolioOf(['3429', '0001', '0001']);
    await answered(0, 'start', file, '--review-id', reviewId, '--window', '1', ...ORDER);
    type Answer = { duplicate: boolean; recorded?: boolean };
    const stateOf = async () => (await answered(0, 'status', reviewId)).state;
    // No inquiry is under way until the file was checked.
    while ((await stateOf()) === 'examining') await delay(50);
    const paused = await answered<Answer>(0, 'pause', reviewId, ...WORD);
    assert.deepEqual([paused.duplicate, paused.recorded, await stateOf()], [false, true, 'paused']);
    assert.equal((await answered<Answer>(0, 'pause', reviewId, ...WORD)).duplicate, true);
    const resumed = await answered<Answer>(0, 'resume', reviewId, ...WORD);
    assert.deepEqual([resumed.duplicate, resumed.recorded], [false, true]);
    const withdrawn = await answered<Answer>(0, 'withdraw', reviewId, ...WORD);
    assert.deepEqual([withdrawn.duplicate, withdrawn.recorded], [false, true]);
    assert.ok(['stopping', 'withdrawn'].includes(await stateOf()));
    assert.equal((await portfolio('watch', reviewId, '--through-holds')).code, 0);
    assert.equal((await answered(0, 'status', reviewId)).state, 'withdrawn');
    for (const command of ['pause', 'withdraw'])
      assert.equal((await answered<Answer>(0, command, reviewId, ...WORD)).duplicate, true);
    assert.equal((await refused(1, 'withdraw', reviewId, '--by', 'ops', '--reason', 'another')).type, 'differs');
    assert.equal((await refused(1, 'cancel', reviewId, ...WORD)).type, 'journeyFinished');
    const listed = await stage.shell.cli(['decisions', '--run-key', `portfolio:${reviewId}`, '--json'], stage.env);
    const { data: decisions } = JSON.parse(listed.stdout) as { data: { action: string; by: string; reason: string }[] };
    assert.deepEqual(
      decisions.map(({ action, by, reason }) => [action, by, reason]),
      ['pause', 'resume', 'withdraw'].map((action) => [action, 'ops', 'a test']),
    );
  });

  test('reports after its end that it was cancelled, or refused because of its file', async () => {
    const { file, reviewId } = await portfolioOf(['4002']);
    await portfolio('start', file, '--review-id', reviewId, '--watch', ...ORDER);
    const cancelled = await answered<object>(0, 'cancel', reviewId, ...WORD);
    assert.deepEqual(cancelled, { accepted: true, duplicate: false, recorded: true });
    const watched = await portfolio('watch', reviewId);
    assert.equal(watched.code, 1, watched.stdout);
    const { state, holds, waitingFor } = await answered(0, 'status', reviewId);
    assert.deepEqual([state, holds, waitingFor], ['cancelled', [], undefined]);

    const before = await postedCount();
    await writePortfolio(directory, 'headless.csv', csvText(2).replace(/^.*\n/, ''));
    const own = `${reviewId}-2`;
    const ran = await portfolio('start', 'headless.csv', '--review-id', own, '--watch', ...ORDER);
    assert.equal(ran.code, 2, ran.stdout);
    const { problems = [] } = (JSON.parse(ran.stderr) as { error: Refusal }).error;
    assert.match(problems.map(({ path, rule }) => `${path} ${rule}`).join('; '), /^\/file lacks the columns accountId/);
    assert.ok(!ran.stderr.includes('Casey'));
    assert.equal((await answered(0, 'status', own)).state, 'failed');
    assert.equal(await postedCount(), before);
  });

  test('is refused before its start, with the position of each problem', async () => {
    const start = (...more: string[]) => ['start', 'x.csv', '--review-id', 'R-WRONG', ...ORDER, ...more];
    const wrong: [string[], string][] = [
      [['start', '../x.csv', ...ORDER], '/file'],
      [['start', 'x.csv', '--review-id', '900-12-3456', ...ORDER], '/reviewId'],
      [start('--window', '0'), '/window'],
      [start('--window', 'many'), '/window'],
      [start('--max-bad-rows', '-1'), '/maxBadRows'],
      [start('--format', 'xml'), '/format'],
      [['pause', 'R-1', '--by', 'ops'], '/reason'],
      [['withdraw', 'R-1', '--reason', 'why'], '/by'],
      [['status', 'a b'], '/reviewId'],
      [['status', 'monthly-11:00:00Z'], '/reviewId'],
      [['watch', 'a b'], '/reviewId'],
      [['cancel', 'casey@example.com', '--by', 'ops', '--reason', 'why'], '/reviewId'],
    ];
    for (const [args, path] of wrong) {
      const { type, problems = [] } = await refused(2, ...args);
      assert.equal(type, 'invalidInput', args.join(' '));
      assert.deepEqual([...new Set(problems.map((problem) => problem.path))], [path], args.join(' '));
    }
    for (const args of [
      ['start', 'x.csv', '--permissible-purpose-code', '01'],
      ['start', ...ORDER],
      start('--rows', '5'),
    ]) {
      const ran = await portfolio(...args);
      assert.equal(ran.code, 2, `${args.join(' ')}: ${ran.stdout}`);
      assert.equal(ran.stdout, '');
    }
    assert.equal((await refused(1, 'status', 'R-NOBODY')).type, 'notFound');
  });
});
