import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JourneyResult, JourneyStatus, UpdateAnswer } from '../../src/model/shapes.ts';
import { applicant, consentMessage, journeyInput, startHarness } from '../support/journey-harness.ts';
import { pythonPackages } from '../support/python.ts';

const run = promisify(execFile);
const TEMPORALIO = 'temporalio==1.35.0';

test('a caller in Python sends plain JSON: it starts a journey, signals consent and reads the result', async (t) => {
  const [harness, packages] = await Promise.all([startHarness(), pythonPackages(TEMPORALIO)]);
  t.after(() => harness.close());
  const journey = journeyInput({
    stages: ['PREQUAL', 'PREAPP'],
    applicants: [applicant('1A'), applicant('2A')],
    shares: [{ shareId: 'S1', endUserCode: 'EU999' }],
  });
  const consents = ['1A', '2A'].map((applicantId) => consentMessage(journey.journeyId, { applicantId }));
  const { address, namespace } = harness.config.temporal;
  const { stdout } = await run(
    'python3',
    [
      fileURLToPath(new URL('./plain_caller.py', import.meta.url)),
      address,
      namespace,
      harness.config.taskQueue,
      JSON.stringify({ journey, consents }),
    ],
    { env: { ...process.env, PYTHONPATH: packages }, timeout: 60_000 },
  );
  const { answer, result, status } = JSON.parse(stdout) as {
    answer: UpdateAnswer;
    result: JourneyResult;
    status: JourneyStatus;
  };
  assert.equal(answer.accepted, true);
  assert.equal(answer.duplicate, false);
  assert.equal(result.outcome, 'completed');
  assert.equal(result.shares[0]?.state, 'posted');
  assert.equal(status.state, 'completed');
});
