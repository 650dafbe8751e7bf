/** What `deploy promote` tells where Temporal is slow: what is current, or that it is not known. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '@temporalio/client';
import { NotPromotedError, PromotionUnknownError, promoteWithin } from '../../src/cli/commands/programs/promotion.ts';
import { ManagedElsewhereError } from '../../src/temporal/worker-deployment.ts';

const DEADLINE_EXCEEDED = 4;
const PERMISSION_DENIED = 7;
const FAILED_PRECONDITION = 9;
const UNAVAILABLE = 14;

const version = { deploymentName: 'loans', buildId: '2' };

const grpcError = (code: number) =>
  Object.assign(new ServiceError('server'), { code, details: 'a secret', metadata: {} });

interface Told {
  /** What each try is answered, one after the other, the last for ever; a number is a gRPC status. */
  sets: ('done' | 'doneUnanswered' | number)[];
  isMute?: true;
  manager?: string;
}

function serverThat({ sets, isMute, manager = '' }: Told) {
  let current = '1';
  let tries = 0;
  const service = {
    async describeWorkerDeployment() {
      if (isMute && tries > 0) throw grpcError(DEADLINE_EXCEEDED);
      const routingConfig = { currentDeploymentVersion: { ...version, buildId: current } };
      return { workerDeploymentInfo: { routingConfig, managerIdentity: manager, versionSummaries: [] } };
    },
    async setWorkerDeploymentCurrentVersion() {
      const answer = sets[Math.min(tries++, sets.length - 1)];
      if (typeof answer === 'string') current = '2';
      if (answer === 'doneUnanswered') throw grpcError(DEADLINE_EXCEEDED);
      if (typeof answer === 'number') throw grpcError(answer);
      return {};
    },
  };
  const server = {
    workflowService: service as never,
    withDeadline: <T>(_: number | Date, call: () => Promise<T>) => call(),
  };
  const promoting = (withinMs: number) =>
    promoteWithin(server, 'default', version, { withinMs, ignoreMissingTaskQueues: false });
  return { promoting, tries: () => tries };
}

test('a try without an answer that was carried out is a promotion', async () => {
  const { promoting, tries } = serverThat({ sets: ['doneUnanswered', FAILED_PRECONDITION] });
  assert.deepEqual(await promoting(0), { previousBuildId: '1' });
  assert.equal(tries(), 1);
});

test('a slow server is asked again, and tells which version was current before', async () => {
  const { promoting, tries } = serverThat({ sets: [DEADLINE_EXCEEDED, UNAVAILABLE, 'done'] });
  assert.deepEqual(await promoting(60_000), { previousBuildId: '1' });
  assert.equal(tries(), 3);
});

test('where no answer comes it is not known, and nothing of the server is told', async () => {
  await assert.rejects(serverThat({ sets: [DEADLINE_EXCEEDED] }).promoting(0), (error) => {
    assert.ok(error instanceof PromotionUnknownError);
    assert.match(error.message, /^it is not known whether 2 becomes current: .*1 is current.*deploy status/);
    assert.ok(!error.message.includes('secret'));
    return true;
  });
  await assert.rejects(serverThat({ sets: [DEADLINE_EXCEEDED], isMute: true }).promoting(0), {
    name: 'PromotionUnknownError',
    message: /could not be asked/,
  });
});

test('a refusal says that nothing was promoted, and what is current', async () => {
  await assert.rejects(serverThat({ sets: [FAILED_PRECONDITION] }).promoting(0), (error) => {
    assert.ok(error instanceof NotPromotedError);
    assert.match(error.message, /Nothing was promoted: 1 is current$/);
    return true;
  });
  const denied = serverThat({ sets: [PERMISSION_DENIED] });
  await assert.rejects(denied.promoting(60_000), NotPromotedError);
  assert.equal(denied.tries(), 1, 'it does not wait for what no waiting changes');
  await assert.rejects(serverThat({ sets: ['done'], manager: 'a-controller' }).promoting(0), ManagedElsewhereError);
});
