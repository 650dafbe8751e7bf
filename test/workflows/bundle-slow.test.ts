import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import fc from 'fast-check';
import { BUNDLE_OPTIONS } from '../../src/worker/workflow-source.ts';
import { changedValue, treeMutations } from '../fuzz/mutations.ts';
import { type CheckCase, type checkMessages, verdictsOn } from '../support/checking-workflow.ts';
import { testServer, workflowBundle } from '../support/temporal.ts';
import { aConsent, aDecision, anApplicant } from '../validation/sample-messages.ts';

test('the workflow bundle has workflow code and message checks, and no activity, HTTP or database module', async (t) => {
  const { code } = await workflowBundle();
  const [program = ''] = code.split('//# sourceMappingURL=');
  const modules = new Set(
    [...program.matchAll(/^\/\*\*\*\/ "\.\/((?:src|node_modules)\/[^"]+)"$/gm)].map(([, path]) => path as string),
  );
  assert.ok(modules.has('src/workflows/journey/lending-journey.ts'));
  for (const path of modules) {
    if (!path.startsWith('src/')) continue;
    // All runs of a thread share the modules, so a module must not keep the state of a run.
    assert.doesNotMatch(readFileSync(path, 'utf8'), /^(export )?let /m, path);
  }
  // The failure converter runs in the workflow's sandbox by design. It has no key and decrypts nothing.
  modules.delete('src/protection/payloads/failure-converter.ts');
  for (const path of modules) {
    assert.doesNotMatch(path, /^src\/(activities|gateway|ledger|protection|local|cli|client|config)\//);
    // Preloaded modules have no clock, no Node modules and no table of applicants.
    assert.doesNotMatch(path, /^src\/fields\/(applicant|request)-schemas/);
    assert.doesNotMatch(
      path,
      /^node_modules\/(undici|pg|pino|fastify|commander|@temporalio\/(client|worker|activity))\//,
    );
  }
  // ES2017 would compile each private field to a `WeakMap`.
  assert.doesNotMatch(program, /_class_private_/);
  t.diagnostic(`${Math.round(program.length / 1000)} kB without its source map, ${modules.size} modules`);
});

const WHO = { by: 'ops', reason: 'by mistake' };
const REFERENCE = {
  reportReferenceNumber: 'R-1',
  requestedAt: '2026-01-02T03:04:05Z',
  applicants: [{ applicantId: '1A', consumerId: 'C-1' }],
};
const { journeyId: _, ...decision } = aDecision({ action: 'accept', outcome: 'record', reference: REFERENCE });

/** Pairs each check with messages that it accepts. */
const TAKEN: CheckCase[] = [
  ['withdrawJourney', { journeyId: 'J-1', ...WHO }],
  ['withdrawPull', { pullId: 'P-1', ...WHO }],
  ['steerReview', { reviewId: 'R-1', ...WHO }],
  ['withdrawShareReport', { shareId: 'S-1', ...WHO }],
  ['advance', { journeyId: 'J-1', to: 'PREAPP', applicants: [anApplicant()] }],
  ['advance', { journeyId: 'J-1', to: 'PREAPP', acceptAge: true, ...WHO }],
  ['advance', { journeyId: 'J-1', to: 'PRECLOSE', skip: 'PREAPP', ...WHO }],
  ['advance', { journeyId: 'J-1', repeat: 'PRECLOSE', occurrence: 2, ...WHO, proof: 'aa.bb.cc' }],
  ['requestShare', { journeyId: 'J-1', share: { shareId: 'S1', endUser: 'A Bank', awaitConsentFor: 'P3D' } }],
  ['requestShare', { journeyId: 'J-1', share: { shareId: 'S1', endUser: 'A Bank' } }],
  ['withdrawShare', { journeyId: 'J-1', shareId: 'S1', ...WHO }],
  ['extend', { journeyId: 'J-1', gate: 'PREAPP', until: '2026-01-02T03:04:05Z', ...WHO }],
  ['extend', { journeyId: 'J-1', shareId: 'S1', until: '2026-01-02T03:04:05Z', ...WHO }],
  ['extendShareReport', { shareId: 'S1', until: '2026-01-02T03:04:05Z', ...WHO }],
  ['consent', aConsent()],
  ['consent', aConsent({ decision: 'revoked', proof: 'aa.bb.cc' })],
  ['resolveInquiry', { journeyId: 'J-1', ...decision }],
  ['resolvePull', { pullId: 'P-1', ...decision }],
  ['resolvePortfolio', { reviewId: 'R-1', ...decision }],
  ['resolveShareReport', { shareId: 'S-1', ...decision }],
  ['resolveInquiry', aDecision({ action: 'amend', applicants: [anApplicant()] })],
];
const HOSTILE = [null, 7, 'x', [], {}, { undecodable: { reason: 'tampered' } }];

/** Makes invalid variants of a message. */
function changed([check, message, ...rest]: CheckCase): CheckCase[] {
  const trees = fc.sample(treeMutations(['by', 'shareId', 'applicants', 'evidence', 'action'], 3), {
    numRuns: 40,
    seed: 1,
  });
  return [...HOSTILE, ...trees.map((tree) => changedValue(message, tree))].map((one) => [check, one, ...rest]);
}

test('every message check gives the same result in a run, in a later run of the same thread and outside a run', async () => {
  const { address, namespace } = await testServer();
  const connection = await Connection.connect({ address });
  const native = await NativeConnection.connect({ address });
  const taskQueue = 'checks-of-messages';
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue,
    workflowsPath: fileURLToPath(new URL('../support/checking-workflow.ts', import.meta.url)),
    bundlerOptions: { preloadModules: BUNDLE_OPTIONS.preloadModules },
  });
  const { workflow } = new Client({ connection, namespace });
  // JSON drops members that are undefined.
  const cases = JSON.parse(JSON.stringify([...TAKEN, ...TAKEN.flatMap(changed)])) as CheckCase[];
  const expected = verdictsOn(cases);
  assert.deepEqual(
    expected.slice(0, TAKEN.length),
    TAKEN.map(() => null),
  );
  assert.ok(expected.filter((reason) => reason !== null).length > 200);
  assert.deepEqual(
    expected.filter((reason) => reason?.startsWith('threw')),
    [],
  );
  await worker.runUntil(async () => {
    for (const workflowId of ['checks-1', 'checks-2']) {
      const verdicts = await workflow.execute<typeof checkMessages>('checkMessages', {
        workflowId,
        taskQueue,
        args: [cases],
      });
      assert.deepEqual(verdicts, expected);
    }
  });
  await connection.close();
  await native.close();
});
