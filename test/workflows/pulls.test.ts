/** Single pulls, end to end, with a real client, worker, gateway and ledger; one worker for all tests. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { PullHandle } from '../../src/client/runs/run-handle.ts';
import { type CreditJourneys, InvalidInputError, type PullResult, type PullStatus } from '../../src/client.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { REPORT_PRODUCTS } from '../../src/model/products.ts';
import { connectTo } from '../support/harness-client.ts';
import { applicant, type Harness, journeyInput, refusalOf, startHarness } from '../support/journey-harness.ts';
import { connectWithLedger } from '../support/ledger-access.ts';
import { readReferences, readReport } from '../support/ledger-readings.ts';
import { failsafeApplicant, failsafePull, reportPull } from '../support/pull-scenarios.ts';

let harness: Harness;
let journeys: CreditJourneys;
/** The ledger that the runs use. */
let ledger: Ledger;

before(async () => {
  // By the interface, FAILSAFE answers only `No Record`.
  harness = await startHarness({ sandbox: { with: ['failsafe-records'] } });
  ({ journeys, ledger } = await connectWithLedger(harness));
});

after(async () => {
  await journeys?.close();
  await harness?.close();
});

async function untilHeld(pull: PullHandle): Promise<PullStatus> {
  for await (const status of pull.watch()) if (status.state === 'held') return status;
  throw new Error('it was never held');
}

async function untilEndedOrHeld(pull: PullHandle): Promise<PullStatus> {
  for await (const status of pull.watch()) if (status.state !== 'running') return status;
  throw new Error('it never ended');
}

const inLedger = (pullId: string) => ledger.inquiriesOf(`pull:${pullId}`);

async function postedWith(customerTraceNumber: string): Promise<number> {
  const answer = await fetch(`${harness.sandboxUrl}/_sandbox/inquiries`);
  const posted = (await answer.json()) as { customerTraceNumber: string }[];
  return posted.filter((one) => one.customerTraceNumber === customerTraceNumber).length;
}

describe('a single pull', { concurrency: 8 }, () => {
  for (const productCode of REPORT_PRODUCTS) {
    test(`pulls ${productCode} once, and keeps its report and its reference`, async () => {
      const input = reportPull('0001', { productCode });
      const pull = await journeys.start(input);
      // The pull would be held if the sandbox did not know the product.
      const ended = await untilEndedOrHeld(pull);
      assert.deepEqual(ended.holds, []);
      const result = await pull.result();
      const { pullId } = input;
      assert.equal(result.outcome, 'record');
      assert.equal(result.productCode, productCode);
      assert.equal(result.pullId, pullId);
      assert.equal(result.reference?.applicants[0]?.applicantId, '1A');
      assert.equal(await postedWith(result.customerTraceNumber), 1);
      const [row, ...others] = await inLedger(pullId);
      assert.deepEqual(others, []);
      assert.equal(row?.customerTraceNumber, result.customerTraceNumber);
      assert.equal(row?.workflowType, 'creditReport');
      assert.equal(row?.productCode, productCode);
      assert.equal(row?.endUserCode, 'EU123');
      assert.equal(row?.attempts[0]?.state, 'answered');
      const { report } = (await readReport(ledger, { runKey: `pull:${pullId}`, productCode })) as {
        report: { reportReferenceNumber?: string };
      };
      assert.equal(report.reportReferenceNumber, result.reference?.reportReferenceNumber);
      const { references, redacted } = await pull.references();
      assert.deepEqual(references, [{ productCode, reference: result.reference }]);
      assert.equal(redacted, false);
    });
  }

  test('keeps the identification under which REFUPD reports each account', async () => {
    const pull = await journeys.start(reportPull('0001', { productCode: 'REFUPD' }));
    await pull.result();
    const { report } = await readReport(ledger, { runKey: pull.runKey, productCode: 'REFUPD' });
    const [consumer] = (report as RefupdReport).applicants.map((one) => one.consumer);
    const refIds = consumer?.names.map(({ refId }) => refId) ?? [];
    assert.ok(refIds.length > 0);
    for (const { refId, firstReportedDate, totalOccurrences, activeOccurrences } of consumer?.names ?? []) {
      assert.match(firstReportedDate, /^\d{4}-\d{2}-\d{2}$/);
      for (const figure of [refId, totalOccurrences, activeOccurrences]) assert.ok(Number.isSafeInteger(figure));
    }
    for (const { accountCrossReference } of consumer?.accounts ?? []) {
      assert.ok(refIds.includes(accountCrossReference.consumerNameRefId));
    }
  });

  test('has FAILSAFE’s outcome and reference for each consumer', async () => {
    const pull = await journeys.start(failsafePull([failsafeApplicant('1A')]));
    const result = await pull.result();
    assert.equal(result.outcome, 'record');
    const [consumer, ...others] = result.consumers ?? [];
    assert.deepEqual([consumer?.applicantId, consumer?.outcome, others], ['1A', 'record', []]);
    assert.match(consumer?.consumerId ?? '', /./);
    assert.match(consumer?.reportReferenceNumber ?? '', /^SBX/);
    assert.deepEqual(result.reference?.applicants, [{ applicantId: '1A', consumerId: consumer?.consumerId }]);
    assert.deepEqual(await tracesOf(consumer?.reportReferenceNumber), [result.customerTraceNumber]);
    const outcomes = [{ applicantId: '1A', outcome: 'record', returnCode: 'Record' }];
    assert.deepEqual(result.applicantOutcomes, outcomes);
    assert.deepEqual((await pull.status()).applicantOutcomes, outcomes);
    const [row] = await inLedger(pull.pullId);
    assert.equal(row?.workflowType, 'failsafeCheck');
    assert.equal(row?.attempts[0]?.state, 'answered');
    await assertStoredAlike(pull, result);
  });

  test('attributes FAILSAFE’s consumers with equal outcomes to no applicant, and lists them as unattributed', async () => {
    const pull = await journeys.start(failsafePull([failsafeApplicant('1A'), failsafeApplicant('2A')]));
    const result = await pull.result();
    assert.deepEqual(result.consumers, [
      { applicantId: '1A', outcome: 'record' },
      { applicantId: '2A', outcome: 'record' },
    ]);
    assert.equal(result.reference, undefined);
    const ids = (result.unattributed ?? []).map(({ consumerId }) => consumerId);
    assert.equal(new Set(ids).size, 2);
    for (const { reportReferenceNumber } of result.unattributed ?? []) {
      assert.deepEqual(await tracesOf(reportReferenceNumber), [result.customerTraceNumber]);
    }
    await assertStoredAlike(pull, result);
  });

  test('is held if FAILSAFE’s consumers have different outcomes without an applicant', async () => {
    const pull = await journeys.start(failsafePull([failsafeApplicant('1A'), failsafeApplicant('2A', '0404')]));
    await untilHeld(pull);
    const { holds } = await pull.status();
    assert.equal(holds[0]?.failureType, 'UnexpectedResponse');
    assert.match(holds[0]?.problems?.[0]?.rule ?? '', /name its applicant/);
    await pull.resolveInquiry(decision(await pull.status(), { action: 'abandon', providerSaid: 'posted' }));
    assert.equal((await pull.result()).outcome, 'abandoned');
  });

  /** Finds trace numbers by a reference number, as auditors do. */
  async function tracesOf(reportReferenceNumber = ''): Promise<string[]> {
    const found: string[] = [];
    for await (const { customerTraceNumber } of ledger.inquiriesBetween({ reportReferenceNumber })) {
      found.push(customerTraceNumber);
    }
    return found;
  }

  /** Asserts that the ledger has the same references as the run. */
  async function assertStoredAlike(pull: PullHandle, { consumers, unattributed }: PullResult): Promise<void> {
    const told = await pull.references();
    assert.deepEqual([told.consumers, told.unattributed], [consumers, unattributed]);
    const { references, ...stored } = await readReferences(ledger, pull.runKey);
    const { references: before } = told;
    assert.deepEqual(
      [stored.consumers, stored.unattributed, stored.withoutRecord],
      [told.consumers, told.unattributed, told.withoutRecord],
    );
    assert.deepEqual(
      references.map(({ productCode, reference }) => ({ productCode, reference })),
      before,
    );
  }

  test('returns the same run if its start is repeated, running or completed', async () => {
    const input = reportPull('4002');
    const held = await journeys.start(input);
    await untilHeld(held);
    await (await journeys.start(input)).withdraw({ by: 'ops', reason: 'asked for by mistake' });
    const { customerTraceNumber } = await held.status();
    await held.resolveInquiry(decision(await held.status(), { action: 'abandon', providerSaid: 'posted' }));
    assert.equal((await held.result()).outcome, 'abandoned');
    assert.equal((await (await journeys.start(input)).result()).outcome, 'abandoned');
    assert.equal(await postedWith(customerTraceNumber ?? ''), 1);
  });

  test('refuses another input or another product under an id that is taken', async () => {
    const input = reportPull();
    await (await journeys.start(input)).result();
    const { pullId } = input;
    const others = [
      { ...input, endUserCode: 'EU456' },
      { ...input, applicants: [applicant('1A')] },
      { ...input, productCode: 'PREQUAL' as const },
      { ...failsafePull([failsafeApplicant('1A')]), pullId },
    ];
    for (const other of others) await assert.rejects(journeys.start(other), { code: 'differs' });
    assert.equal((await inLedger(pullId)).length, 1);
  });

  test('refuses another product under the id of a pull that was terminated, before anything is sent', async () => {
    const input = reportPull('4002');
    const pull = await journeys.start(input);
    await untilHeld(pull);
    await harness.client.workflow.getHandle(pull.workflowId).terminate();
    const again = await journeys.start({ ...input, productCode: 'PREQUAL' });
    await assert.rejects(again.result(), isInvalid('/productCode'));
    assert.equal((await inLedger(pull.pullId)).length, 1);
    // The same pull finds its own attempt in the ledger, and is held instead of sent again.
    const { holds } = await untilHeld(await journeys.start(input));
    assert.equal(holds[0]?.failureType, 'OutcomeUnknown');
    assert.equal(await postedWith(holds[0]?.customerTraceNumber ?? ''), 1);
  });

  test('is separate from a journey of the same id', async () => {
    const id = reportPull().pullId;
    const journey = await journeys.start(journeyInput({ journeyId: id, stages: ['PREQUAL'] }));
    const pull = await journeys.start(reportPull('0001', { pullId: id, productCode: 'PREQUAL', endUserCode: 'EU456' }));
    const [{ stages }, result] = await Promise.all([journey.result(), pull.result()]);
    assert.notEqual(stages[0]?.customerTraceNumber, result.customerTraceNumber);
    const rows = async (runKey: string) => (await ledger.inquiriesOf(runKey)).map((one) => one.customerTraceNumber);
    assert.deepEqual(await rows(id), [stages[0]?.customerTraceNumber]);
    assert.deepEqual(await rows(`pull:${id}`), [result.customerTraceNumber]);
    assert.equal(
      (await readReport(ledger, { runKey: id, productCode: 'PREQUAL' })).customerTraceNumber,
      stages[0]?.customerTraceNumber,
    );
    assert.equal(
      (await readReport(ledger, { runKey: pull.runKey, productCode: 'PREQUAL' })).customerTraceNumber,
      result.customerTraceNumber,
    );
    const authorization = { by: 'legal', reason: 'a claim' };
    await ledger.retention.setLegalHold(`pull:${id}`, { ...authorization, matter: '2026-17' });
    assert.equal((await ledger.retention.begin(`pull:${id}`, authorization)).kind, 'refused');
    await ledger.retention.begin(id, authorization);
    assert.equal((await ledger.retention.dispose(id, authorization, 0)).kind, 'done');
    assert.equal(
      (await readReport(ledger, { runKey: pull.runKey, productCode: 'PREQUAL' })).customerTraceNumber,
      result.customerTraceNumber,
    );
    assert.equal(await ledger.retention.isBegun(`pull:${id}`), false);
  });

  test('waits for a decision if the answer is lost, and continues with it', async () => {
    const pull = await journeys.start(reportPull('4001'));
    const status = await untilHeld(pull);
    assert.deepEqual(status.holds[0]?.allowedActions, ['resend', 'accept', 'abandon']);
    await assert.rejects(
      pull.resolveInquiry(decision(status, { action: 'resend', providerSaid: 'notAsked' })),
      /providerSaid must be posted or notPosted or unknown/,
    );
    const { rows } = await ledger.tasks.open({ runKey: `pull:${pull.pullId}`, limit: 10 });
    assert.deepEqual(
      rows.map(({ customerTraceNumber }) => customerTraceNumber),
      [status.customerTraceNumber],
    );
    await pull.resolveInquiry(decision(status, { action: 'resend', providerSaid: 'notPosted' }));
    const result = await pull.result();
    assert.equal(result.attempts, 2);
    assert.equal(result.outcome, 'record');
    const [row] = await inLedger(pull.pullId);
    assert.deepEqual(
      row?.attempts.map(({ state }) => state),
      ['unknown', 'answered'],
    );
  });

  test('accepts corrected applicants in the form of its product', async () => {
    const pull = await journeys.start(failsafePull([failsafeApplicant('1A', '1422')]));
    const status = await untilHeld(pull);
    const applicants = [failsafeApplicant('1A')];
    await pull.resolveInquiry(decision(status, { action: 'amend', providerSaid: 'notPosted', applicants }));
    const result = await pull.result();
    assert.equal(result.consumers?.[0]?.outcome, 'record');
    assert.equal((await inLedger(pull.pullId)).length, 2);

    const report = await journeys.start(reportPull('1422'));
    const refusal = report.resolveInquiry(
      decision(await untilHeld(report), { action: 'amend', providerSaid: 'notPosted', applicants }),
    );
    await assert.rejects(refusal, /emailAddress is required/);
  });

  test('is checked by its worker also if the start does not use the client', async () => {
    const start = async (type: string, input: object, workflowId = `pull-${reportPull().pullId}`) => {
      const { taskQueue } = harness.config;
      const handle = await harness.client.workflow.start(type, { workflowId, taskQueue, args: [input] });
      return problemsOf(handle.result());
    };
    assert.deepEqual(await start('creditReport', reportPull()), ['/pullId']);
    const { pullId } = reportPull();
    assert.deepEqual(await start('creditReport', { ...failsafePull([]), pullId }, `pull-${pullId}`), [
      '/productCode',
      '/endUserCode',
      '/permissiblePurposeCode',
      '/applicants',
    ]);
    const { state, problems } = await journeys.run(`pull:${pullId}`).status();
    assert.deepEqual([state, problems?.[0]?.path], ['failed', '/productCode']);
    assert.throws(() => journeys.run('pull:900-11-0001'), InvalidInputError);
    assert.deepEqual(await ledger.inquiriesOf(`pull:${pullId}`), []);
  });

  test('refuses messages that name another pull', async () => {
    const pull = await journeys.start(reportPull('4002'));
    await untilHeld(pull);
    const handle = harness.client.workflow.getHandle(pull.workflowId);
    const message = { pullId: 'another', by: 'ops', reason: 'test' };
    const told = handle.executeUpdate('withdraw', { args: [message] });
    assert.equal(await refusalOf(told), '/pullId names another pull');
    await handle.signal('requestWithdrawal', { ...message, pullId: undefined, journeyId: pull.pullId });
    const { refusedMessages } = await pull.status();
    assert.match(refusedMessages[0]?.reason ?? '', /unknown field/);
  });
});

interface RefupdName {
  refId: number;
  firstReportedDate: string;
  totalOccurrences: number;
  activeOccurrences: number;
}

interface RefupdReport {
  applicants: {
    consumer: { names: RefupdName[]; accounts: { accountCrossReference: { consumerNameRefId: number } }[] };
  }[];
}

function decision(status: PullStatus, rest: Pick<Decision, 'action' | 'providerSaid'> & Partial<Decision>): Decision {
  const [hold] = status.holds;
  assert.ok(hold);
  const { customerTraceNumber, attempts } = hold;
  return { decisionId: randomUUID(), customerTraceNumber, attempt: attempts, by: 'ops', reason: 'asked', ...rest };
}

type Decision = Parameters<PullHandle['resolveInquiry']>[0];

function isInvalid(path: string): (error: unknown) => boolean {
  return (error) => error instanceof InvalidInputError && error.problems.some((problem) => problem.path === path);
}

async function problemsOf(result: Promise<unknown>): Promise<string[]> {
  try {
    await result;
  } catch (error) {
    const { type, details } = (error as { cause: { type: string; details: { problems: { path: string }[] }[] } }).cause;
    assert.equal(type, 'InvalidInput');
    return details[0]?.problems.map(({ path }) => path) ?? [];
  }
  throw new Error('it was not refused');
}

/** Runs a joint FAILSAFE of two people with different outcomes, against a sandbox of its own. */
async function jointFailsafe(...variants: string[]): Promise<Awaited<ReturnType<PullHandle['result']>>> {
  const own = await startHarness({ sandbox: { with: variants } });
  const connected = await connectTo(own);
  try {
    const pull = await connected.start(failsafePull([failsafeApplicant('1A'), failsafeApplicant('2A', '0404')]));
    return await pull.result();
  } finally {
    await connected.close();
    await own.close();
  }
}

test('a joint FAILSAFE whose answer names its consumers has a reference number for each applicant', async () => {
  const { consumers, reference, unattributed } = await jointFailsafe('failsafe-records', 'failsafe-ssns');
  const [found, missing] = consumers ?? [];
  assert.deepEqual([found?.applicantId, found?.outcome], ['1A', 'record']);
  assert.deepEqual([missing?.applicantId, missing?.outcome], ['2A', 'noRecord']);
  for (const consumer of [found, missing]) assert.match(consumer?.reportReferenceNumber ?? '', /^SBX/);
  assert.notEqual(found?.reportReferenceNumber, missing?.reportReferenceNumber);
  assert.notEqual(found?.consumerId, missing?.consumerId);
  assert.deepEqual([reference, unattributed], [undefined, undefined]);
});
