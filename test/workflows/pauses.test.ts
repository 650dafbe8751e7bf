/** The command line pauses and resumes inquiries while runs of each kind wait, on one worker. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createContext } from '../../src/doctor/check.ts';
import { pausesCheck } from '../../src/doctor/ledger-checks.ts';
import { type CommandStage, openCommandStage } from '../cli/command-stage.ts';
import { schedulesAttempt } from '../hazards/operator-hands.ts';
import { HANDS_OVER_SOON, handsOver } from '../support/floods.ts';
import { applicant, type JourneyHandle, journeyInput, newSsn, untilStatus } from '../support/journey-harness.ts';
import { csvText, writePortfolio } from '../support/portfolio-files.ts';
import { reportPull, startPull } from '../support/pull-scenarios.ts';
import { untilQuery } from '../support/until-query.ts';

const GIVE_UP_MS = 3_000;
/** The first wait is at least half of this, so a run that continues earlier was woken. */
const FIRST_WAIT_MS = 120_000;
const AUTHORIZATION = ['--by', 'ops-7', '--reason', 'wrong purpose codes'];

let directory: string;
let stage: CommandStage;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-pauses-'));
  stage = await openCommandStage({
    env: {
      PORTFOLIO_DIR: directory,
      GIVE_UP_AFTER: `PT${GIVE_UP_MS / 1_000}S`,
      BACKOFF_INITIAL_MS: String(FIRST_WAIT_MS),
      BACKOFF_MAX_MS: String(FIRST_WAIT_MS),
      ...HANDS_OVER_SOON,
    },
  });
});
after(async () => {
  await stage?.close();
  await rm(directory, { recursive: true, force: true });
});

/** Returns all requests that the gateway has received. */
async function requests(): Promise<{ customerTraceNumber: string; posted: boolean }[]> {
  return (await fetch(`${stage.harness.sandboxUrl}/_sandbox/requests`)).json() as Promise<never>;
}

async function startReview(): Promise<JourneyHandle> {
  const { client, config } = stage.harness;
  const reviewId = `R-${randomUUID().slice(0, 13)}`;
  const file = await writePortfolio(directory, `${reviewId}.csv`, csvText(1));
  const input = { reviewId, file, endUserCode: 'EU123', permissiblePurposeCode: '01' };
  const options = { workflowId: `portfolio-${reviewId}`, taskQueue: config.taskQueue, args: [input] };
  return (await client.workflow.start('portfolioReview', options)) as unknown as JourneyHandle;
}

/** Counts the attempts of the current run. */
async function attemptsOf({ workflowId }: JourneyHandle): Promise<number> {
  const { events = [] } = await stage.harness.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter(schedulesAttempt).length;
}

async function untilAttempts(handle: JourneyHandle, count: number): Promise<void> {
  while ((await attemptsOf(handle)) < count) await delay(50);
}

describe('a pause of inquiries', () => {
  test('stops each kind of run from sending, without holds, until all continue at once on resume', async () => {
    const { harness, done, cli } = stage;
    assert.deepEqual(await done('pauses'), { data: [], hasMore: false });
    const { duplicate, pause, inFlight } = await done('pause', ...AUTHORIZATION);
    assert.deepEqual([duplicate, pause.by, inFlight], [false, 'ops-7', 0]);
    assert.equal((await done('pause', ...AUTHORIZATION)).duplicate, true);
    const other = await cli('pause', '--by', 'ops-8', '--reason', 'another');
    const { type, message, problems } = JSON.parse(other.stderr).error;
    assert.deepEqual([other.code, type], [1, 'differs']);
    assert.match(message, /^inquiries are paused: .* \/by, \/reason differ$/);
    assert.deepEqual(
      problems.map(({ path }: { path: string }) => path),
      ['/by', '/reason'],
    );

    const before = (await requests()).length;
    // The gateway throttles the first attempt, which is retried after a pause that is longer than `giveUpAfter`.
    const journey = await harness.start(
      journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('3429'))] }),
    );
    const pull = await startPull(harness, reportPull());
    const review = await startReview();
    const { waitingFor } = await untilStatus(journey, (status) => /paused/.test(status.waitingFor ?? ''));
    const pausedSince = performance.now();
    assert.equal(waitingFor, 'inquiries are paused until an operator resumes them');
    await untilQuery<{ waitingFor?: string }>(pull, (status) => /paused/.test(status.waitingFor ?? ''));
    await untilQuery<{ waitingFor?: string }>(review, (status) => /paused/.test(status.waitingFor ?? ''));
    await handsOver(pull);
    await untilQuery<{ waitingFor?: string }>(pull, (status) => /paused/.test(status.waitingFor ?? ''));
    assert.equal(await attemptsOf(pull), 0, 'the next run goes on waiting');
    await delay(GIVE_UP_MS + 200 - (performance.now() - pausedSince));

    // The signal wakes the run whatever its arguments are, and the ledger refuses the claim again.
    await journey.signal('inquiriesResumed', { applicants: 7 }, 'junk');
    await untilAttempts(journey, 2);
    const { state, holds } = await untilStatus(journey, (status) => /paused/.test(status.waitingFor ?? ''));
    assert.deepEqual([state, holds], ['running', []]);
    assert.equal((await requests()).length, before, 'nothing was sent');

    assert.match(
      await pausesFinding(),
      /^warn: inquiries of all profiles are paused since .*, by ops-7: wrong purpose codes$/,
    );

    const resumedAt = performance.now();
    const resumed = await done('resume', '--by', 'lead', '--reason', 'corrected');
    assert.equal(resumed.duplicate, false);
    assert.deepEqual([resumed.runs, resumed.inForce], [{ woken: 3, closed: 0, unreached: 0 }, []]);
    assert.deepEqual((await untilStatus(journey, (status) => status.state !== 'running')).holds, []);
    const results = await Promise.all([journey.result(), pull.result(), review.result()]);
    assert.ok(performance.now() - resumedAt < FIRST_WAIT_MS / 2, 'they were woken');
    assert.deepEqual(
      results.map(({ outcome }) => outcome),
      ['completed', 'record', 'completed'],
    );
    const posted = (await requests()).slice(before).filter((request) => request.posted);
    assert.equal(posted.length, 3, 'one inquiry for each');

    const again = await done('resume', '--by', 'lead', '--reason', 'corrected');
    assert.deepEqual([again.duplicate, again.pause, again.runs.woken], [true, resumed.pause, 0]);
    const sure = await cli('resume', '--by', 'lead', '--reason', 'to be sure');
    assert.deepEqual([sure.code, JSON.parse(sure.stderr).error.type], [1, 'differs']);
    const [past] = (await done('pauses')).data;
    assert.deepEqual([past.by, past.ended.by, past.ended.reason], ['ops-7', 'lead', 'corrected']);
    assert.match(await pausesFinding(), /^pass/);
  });

  test('leaves other profiles alone, and wakes no run that has ended', async () => {
    const { harness, done, cli } = stage;
    const east = await done('pause', '--profile', 'east', ...AUTHORIZATION);
    assert.deepEqual([east.duplicate, east.warning], [false, 'no gateway profile configured here is called east']);
    const pull = await startPull(harness, reportPull());
    assert.equal(((await pull.result()) as unknown as { outcome: string }).outcome, 'record');
    await done('resume', '--profile', 'east', ...AUTHORIZATION);

    await done('pause', ...AUTHORIZATION);
    const input = reportPull();
    const ended = await startPull(harness, input);
    await untilQuery<{ waitingFor?: string }>(ended, (status) => /paused/.test(status.waitingFor ?? ''));
    await ended.terminate('a test');
    assert.deepEqual((await done('resume', ...AUTHORIZATION)).runs, { woken: 0, closed: 1, unreached: 0 });
    // Nothing was sent under the pull's id.
    const other = await startPull(harness, { ...input, productCode: 'PREQUAL' });
    assert.equal(((await other.result()) as unknown as { outcome: string }).outcome, 'record');
    for (const wrong of [['pause', '--by', 'ops'], ['resume'], ['pause', '--profile', 'S9 1', ...AUTHORIZATION]]) {
      assert.equal((await cli(...wrong)).code, 2, wrong.join(' '));
    }
  });
});

async function pausesFinding(): Promise<string> {
  const context = createContext(stage.harness.config, [], 10_000);
  try {
    const { status, detail } = await pausesCheck.run(context, new AbortController().signal);
    return `${status}: ${detail}`;
  } finally {
    await context.close();
  }
}
