/** What `accept` refuses of a FAILSAFE pull and of a review's row: another inquiry's report, a stranger's consumer. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { hasCode } from '../../src/client/connection/errors.ts';
import { type CreditJourneys, type HoldStatus, InvalidInputError, type ReportReference } from '../../src/client.ts';
import { environmentOf } from '../cli/command-stage.ts';
import { runCli } from '../cli/run-cli.ts';
import { inquiriesOf } from '../hazards/operator-hands.ts';
import { connectTo, firstHoldOf } from '../support/harness-client.ts';
import { type Harness, startHarness } from '../support/journey-harness.ts';
import { csvText, writePortfolio } from '../support/portfolio-files.ts';
import { failsafeApplicant, failsafePull, reportPull } from '../support/pull-scenarios.ts';

let harness: Harness;
let journeys: CreditJourneys;
let directory: string;
/** The report of a consumer who is not an applicant of the other journeys. */
let theirs: ReportReference;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-accept-'));
  harness = await startHarness({ env: { PORTFOLIO_DIR: directory } });
  journeys = await connectTo(harness);
  theirs = (await (await journeys.pull(reportPull())).result()).reference ?? assert.fail();
});
after(async () => {
  await journeys?.close();
  await harness?.close();
  await rm(directory, { recursive: true, force: true });
});

type Decision = Parameters<ReturnType<CreditJourneys['getPull']>['resolve']>[0];
interface Resolvable {
  resolve(decision: Decision): Promise<{ duplicate: boolean }>;
}

/** A report of this inquiry's own, whose consumer the ledger has of another applicant alone. */
const ownNumber = (): ReportReference => ({
  ...theirs,
  reportReferenceNumber: `RPT-${randomUUID().slice(0, 8)}`,
});

async function reasonOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => assert.fail('it was not refused'),
    (thrown: unknown) => thrown,
  );
  assert.ok(hasCode(error, 'updateRefused'), String(error));
  return error.reason;
}

/** Everything that is refused before the decision that is right; the hold stays, and nothing more is sent. */
async function refusesOthers(run: Resolvable, { customerTraceNumber, attempts: attempt }: HoldStatus) {
  const accept = (reference: ReportReference, more: Partial<Decision> = {}) => {
    const word = { by: 'ops', reason: 'asked the provider', providerSaid: 'posted' } as const;
    const decision = { decisionId: 'D1', customerTraceNumber, attempt, action: 'accept', outcome: 'record' } as const;
    return run.resolve({ ...decision, ...word, reference, ...more });
  };
  for (const providerSaid of ['notPosted', 'unknown', 'notAsked'] as const) {
    await assert.rejects(
      accept(ownNumber(), { providerSaid }),
      (error) => error instanceof InvalidInputError && error.problems[0]?.path === '/providerSaid',
    );
  }
  const number = /^\/reference\/reportReferenceNumber must be this inquiry’s/;
  assert.match(await reasonOf(accept(theirs)), number);
  assert.match(await reasonOf(accept(theirs, { confirmConsumerIds: true })), number);
  const unconfirmed = await reasonOf(accept(ownNumber()));
  assert.match(unconfirmed, /^\/reference\/applicants\/0\/consumerId must be confirmed by confirmConsumerIds/);
  return accept;
}

describe('accept gives nobody another person’s report', () => {
  test('in a FAILSAFE pull', async () => {
    const input = failsafePull([failsafeApplicant('1A', '4002')]);
    const pull = await journeys.pull(input);
    const hold = await firstHoldOf(pull);
    const accept = await refusesOthers(pull, hold);
    const own = ownNumber();
    assert.equal((await accept(own, { confirmConsumerIds: true })).duplicate, false);
    assert.deepEqual((await pull.result()).reference, own);
    const [inquiry] = await inquiriesOf(harness, `pull:${input.pullId}`);
    assert.deepEqual(
      inquiry?.attempts.map(({ state }) => state),
      ['accepted'],
    );
  });

  test('in a FAILSAFE pull that is decided on the command line', async () => {
    const input = failsafePull([failsafeApplicant('1A', '4002')]);
    const pull = await journeys.pull(input);
    const { customerTraceNumber, attempts } = await firstHoldOf(pull);
    const own = ownNumber();
    const resolve = (reference: ReportReference, ...more: string[]) =>
      runCli(
        [
          ...['resolve', `pull:${input.pullId}`, customerTraceNumber, '--attempt', String(attempts)],
          ...['--action', 'accept', '--outcome', 'record', '--provider-said', 'posted', '--file', '-'],
          ...['--by', 'ops', '--reason', 'asked the provider', ...more],
        ],
        { env: environmentOf(harness), cwd: harness.dataDir, stdin: JSON.stringify({ reference }) },
      );
    const stranger = await resolve(theirs);
    assert.deepEqual([stranger.code, /reportReferenceNumber must be this/.test(stranger.stderr)], [1, true]);
    const unconfirmed = await resolve(own);
    assert.deepEqual([unconfirmed.code, /must be confirmed by confirmConsumerIds/.test(unconfirmed.stderr)], [1, true]);
    assert.equal((await resolve(own, '--confirm-consumer-ids')).code, 0);
    assert.deepEqual((await pull.result()).reference, own);
  });

  test('in a portfolio review’s row', async () => {
    const file = await writePortfolio(
      directory,
      'others.csv',
      csvText(2, (index) => (index === 0 ? '4002' : '0001')),
    );
    const reviewId = `R-${randomUUID().slice(0, 13)}`;
    const review = await journeys.reviewPortfolio({
      ...{ reviewId, endUserCode: 'EU123', permissiblePurposeCode: '01', file },
    });
    const hold = await firstHoldOf(review);
    const accept = await refusesOthers(review as unknown as Resolvable, hold);
    await accept(ownNumber(), { confirmConsumerIds: true });
    const { record } = await review.result();
    assert.equal(record, 2);
  });
});
