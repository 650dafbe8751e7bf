/** A worker without the profile of a start leaves it to another worker. A misspelt profile is refused. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { WorkflowHandle } from '@temporalio/client';
import type { ActivityDependencies } from '../../src/activities/dependencies.ts';
import { createStartActivities } from '../../src/activities/prepared-run.ts';
import type { Config } from '../../src/config/config.ts';
import { runWorker } from '../../src/worker.ts';
import {
  applicant,
  type Harness,
  journeyInput,
  refusalOf,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { reportPull } from '../support/pull-scenarios.ts';
import { shareInput } from '../support/share-scenarios.ts';
import { until } from './operator-hands.ts';

const MESSAGE = 'this worker lacks the gateway profile of the run: a worker that has the profile must take it';

let harness: Harness;
/** A worker beside the harness's, on the same queue and ledger, whose configuration lacks the profile. */
let lacking: { stop: AbortController; done: Promise<void> } | undefined;
before(async () => {
  harness = await startHarness({ proving: true, withoutWorker: true });
  await startLacking();
});
after(async () => {
  await stopLacking();
  await harness?.close();
});

async function startLacking(): Promise<void> {
  const profiles = new Map([...harness.config.profiles].filter(([name]) => name !== 'proving'));
  const config: Config = { ...harness.config, profiles };
  const [stop, ready] = [new AbortController(), Promise.withResolvers<void>()];
  const done = runWorker(config, { signal: stop.signal, onReady: ready.resolve });
  done.catch(ready.reject);
  lacking = { stop, done };
  await ready.promise;
}

async function stopLacking(): Promise<void> {
  lacking?.stop.abort();
  await lacking?.done;
  lacking = undefined;
}

function started(type: string, workflowId: string, input: object): Promise<WorkflowHandle> {
  const { client, config } = harness;
  return client.workflow.start(type, { workflowId, taskQueue: config.taskQueue, args: [input] });
}

/** One run of each kind that names the profile. The last two are refused by a worker that has it, for another reason. */
async function oneOfEach(profile: string): Promise<WorkflowHandle[]> {
  const [journey, pull] = [journeyInput({ profile, stages: ['PREQUAL'] }), reportPull('0001', { profile })];
  const share = shareInput({ pullId: `P-${randomUUID().slice(0, 8)}`, productCode: 'CR' }, { profile });
  const review = { reviewId: `R-${randomUUID().slice(0, 8)}`, profile, endUserCode: 'EU123', file: 'none.csv' };
  return Promise.all([
    started('lendingJourney', `journey-${journey.journeyId}`, journey),
    started('creditReport', `pull-${pull.pullId}`, pull),
    started('shareReport', `share-${share.shareId}`, share),
    started('portfolioReview', `portfolio-${review.reviewId}`, review),
  ]);
}

/** The paths of the problems for which a run was refused. Empty if it has a result. */
async function refusedPaths(handle: WorkflowHandle): Promise<string[]> {
  try {
    await handle.result();
    return [];
  } catch (error) {
    const { type, details } = (error as { cause: { type: string; details: { problems: { path: string }[] }[] } }).cause;
    assert.equal(type, 'InvalidInput');
    return details[0]?.problems.map(({ path }) => path) ?? [];
  }
}

describe('a worker without the profile', () => {
  test('refuses a start whose profile no worker has', async () => {
    const runs = await oneOfEach('proving');
    for (const run of runs) assert.deepEqual(await refusedPaths(run), ['/profile']);
    // No profile can have such a name, so every worker refuses it.
    const [odd] = await oneOfEach('No such profile');
    assert.ok(odd);
    assert.deepEqual(await refusedPaths(odd), ['/profile']);
  });

  test('leaves every start to a worker that has it, and the run’s status reports the missing profile', async () => {
    const runs = await oneOfEach('proving');
    for (const run of runs) {
      const status = () => run.query<{ problems?: { path: string }[] }>('status');
      await until(async () => (await status()).problems !== undefined, 'the status does not say what it waits for');
      assert.deepEqual(
        (await status()).problems?.map(({ path }) => path),
        ['/profile'],
      );
      assert.equal((await run.describe()).status.name, 'RUNNING');
    }
    await harness.startWorker();
    await stopLacking();
    assert.deepEqual(await Promise.all(runs.map(refusedPaths)), [
      [],
      [],
      ['/report/pullId'],
      ['/permissiblePurposeCode'],
    ]);
  });

  test('retries the check of shares and applicants that a running journey receives, and refuses none', async () => {
    const dependencies = { config: { profiles: new Map() } } as unknown as ActivityDependencies;
    const { checkShare, checkApplicants } = createStartActivities(dependencies);
    const message = { journeyId: 'J-1', share: { shareId: 'S1', endUserCode: 'EU999' } };
    const repeatedByTemporal = { type: 'ActivityFailed', nonRetryable: false, message: MESSAGE };
    await assert.rejects(checkShare({ profile: 'proving', message, journeyPurposeCode: '02' }), repeatedByTemporal);
    const applicants = [applicant('1A')];
    await assert.rejects(checkApplicants({ profile: 'proving', applicants }), repeatedByTemporal);
  });

  test('refuses ten shares that no worker can check, so that they do not keep a withdrawal out', async () => {
    await harness.startWorker();
    const input = journeyInput({ profile: 'proving', stages: ['PREQUAL'], sharesOpenFor: 'P1D' });
    const { journeyId } = input;
    const handle = await harness.start(input);
    await untilStatus(handle, ({ stages }) => stages[0]?.state === 'record');
    await harness.stopWorker();
    await startLacking();
    const asked = Array.from({ length: 10 }, (_, index) =>
      refusalOf(update(handle, 'requestShare', { journeyId, share: { shareId: `S${index}`, endUserCode: 'EU999' } })),
    );
    for (const refusal of await Promise.all(asked)) assert.match(refusal, /no worker could check it in time/);
    await update(handle, 'withdraw', { journeyId, by: 'platform', reason: 'bought elsewhere' });
    assert.equal((await handle.result()).outcome, 'withdrawn');
  });
});
