/** Disposal on a real Temporal server with a database file deletes stored data, and nothing is sent again. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { startLateConsent } from '../../src/client/runs/consents.ts';
import { DisposedError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { startTemporalServer, type TemporalServer } from '../../src/local/temporal/temporal-server.ts';
import { toWorkflowId } from '../../src/model/run-key.ts';
import { type DisposalContext, disposeItem, findRuns, planDisposal } from '../../src/operator/disposal.ts';
import { openKeyRing } from '../../src/protection/keys/key-ring.ts';
import { runCli } from '../cli/run-cli.ts';
import { runInTerminal } from '../cli/run-in-terminal.ts';
import { attempted, readSealedReport, SHARE } from '../ledger/fixtures.ts';
import { HANDS_OVER_SOON, handsOver } from '../support/floods.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  newSsn,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { readReferences, readReport } from '../support/ledger-readings.ts';
import { reportPull, startPull } from '../support/pull-scenarios.ts';
import { retentionEvents } from '../support/retention-events.ts';
import { newWebhookSecret } from '../support/webhook-receiver.ts';

const AUTHORIZATION = { by: 'ops@example.com', reason: 'kept for 25 months' };

/** A server can delete a run that has just closed only after its next progress update, every 30 s by default. */
const FORGETS_QUICKLY = {
  'history.transferProcessorUpdateAckInterval': '1s',
  'history.visibilityProcessorUpdateAckInterval': '1s',
  'history.timerProcessorUpdateAckInterval': '1s',
};

let serverDir: string;
let server: TemporalServer;
let harness: Harness;
let ledger: Ledger;
let context: DisposalContext;
before(async () => {
  serverDir = await mkdtemp(join(tmpdir(), 'credit-journey-disposal-'));
  server = await startTemporalServer({ headless: true, dataDir: serverDir, dynamicConfig: FORGETS_QUICKLY });
  const [GATEWAY_PROFILES_FILE, secretFile] = [join(serverDir, 'profiles.json'), join(serverDir, 'secret')];
  await writeFile(secretFile, newWebhookSecret());
  // No process listens at this address.
  const away = { name: 'away', url: 'http://127.0.0.1:1/', secretFiles: [secretFile], allowPrivateAddresses: true };
  const told = { environment: 'sandbox', customerId: 'SANDBOX0001', webhooks: [away] };
  await writeFile(GATEWAY_PROFILES_FILE, JSON.stringify({ profiles: { told } }));
  const env = { PAYLOAD_ENCRYPTION: 'on', GATEWAY_PROFILES_FILE, ...HANDS_OVER_SOON };
  harness = await startHarness({ server, env });
  const { config, client } = harness;
  const keyRing = await openKeyRing(config);
  ledger = await openLedger({ url: config.ledger.url, environment: 'sandbox', keyRing });
  context = { client, ledger };
});
after(async () => {
  await ledger?.close();
  await harness?.close();
  await server?.stop();
  await rm(serverDir, { recursive: true, force: true });
});

function environment(): Record<string, string> {
  const { ledger: where, keyRingFile } = harness.config;
  const { address, namespace } = server;
  return {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    LEDGER_URL: where.url,
    KEY_RING_FILE: keyRingFile,
  };
}

function cli(args: string[], env: Record<string, string> = {}) {
  return runCli([...args, '--json'], { env: { ...environment(), ...env } });
}

/** Returns the bytes of a database's file and its log. */
async function filesOf(directory: string, name: string): Promise<Buffer> {
  const names = (await readdir(directory)).filter((file) => file === name || file === `${name}-wal`);
  return Buffer.concat(await Promise.all(names.map((file) => readFile(join(directory, file)))));
}

/** Returns the tables of the Temporal server's database that have a row with these bytes. */
function tablesWith(bytes: Uint8Array): string[] {
  const database = new DatabaseSync(join(serverDir, 'temporal.db'), { readOnly: true, timeout: 2_000 });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    return tables.flatMap(({ name }) => {
      const columns = database.prepare(`PRAGMA table_info(${name})`).all();
      const any = columns.map((column) => `instr(CAST(${column.name} AS BLOB), ?1) > 0`).join(' OR ');
      return database.prepare(`SELECT 1 FROM ${name} WHERE ${any} LIMIT 1`).get(bytes) ? [String(name)] : [];
    });
  } finally {
    database.close();
  }
}

async function requestsOf(customerTraceNumber = 'none'): Promise<number> {
  const answer = await fetch(`${harness.sandboxUrl}/_sandbox/requests`);
  const requests = (await answer.json()) as { customerTraceNumber: string }[];
  return requests.filter((request) => request.customerTraceNumber === customerTraceNumber).length;
}

/** Records a standalone share as `shareReport` does. */
async function sharedByItself(reportReferenceNumber: string): Promise<string> {
  const shareId = `S-${randomUUID()}`;
  const inquiry = { ...SHARE, runKey: `share:${shareId}`, shareId };
  const reference = { reportReferenceNumber: 'SHARED', requestedAt: new Date().toISOString(), applicants: [] };
  const answer = { kind: 'outcome', outcome: 'record', reference } as const;
  const run = { workflowId: `share-${shareId}`, runId: randomUUID() };
  await attempted(ledger, { inquiry, run, sharedReference: reportReferenceNumber }, { state: 'answered', answer });
  return inquiry.runKey;
}

test('disposal of a journey deletes everything but its rows, and its id cannot be used again', async () => {
  const input = journeyInput({ stages: ['PREQUAL'] });
  const { journeyId } = input;
  const handle = await harness.start(input);
  const { stages } = await handle.result();
  const [{ customerTraceNumber, reference } = {}] = stages;
  const late = consentMessage(journeyId, { applicantId: '1A', decision: 'denied' });
  await (await startLateConsent(harness.client, harness.config.taskQueue, late)).result();
  const { events } = await handle.fetchHistory();
  const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const sent = Buffer.from(payloads[0]?.data ?? []).subarray(50, 100);
  const report = await readSealedReport(ledger, journeyId, 'PREQUAL');
  const database = new DatabaseSync(join(harness.dataDir, 'ledger.db'), { readOnly: true });
  const [sealed] = database.prepare('SELECT wrapped_key, substr(body, 1, 64) AS body FROM sealed_bodies').all();
  database.close();
  const secrets = [report?.body.slice(0, 40), reference?.reportReferenceNumber].map((text) => Buffer.from(text ?? ''));
  const sealedBytes = [sealed?.wrapped_key, sealed?.body].map((bytes) => Buffer.from(bytes as Uint8Array));
  for (const bytes of [sent, ...secrets, ...sealedBytes]) assert.ok(bytes.length > 10);
  const ledgerBytes = await filesOf(harness.dataDir, 'ledger.db');
  assert.ok(sealedBytes.every((bytes) => ledgerBytes.includes(bytes)));
  assert.ok(tablesWith(sent).includes('history_node'));

  const share = await sharedByItself(reference?.reportReferenceNumber ?? '');
  const dry = await cli(['dispose', journeyId, '--dry-run']);
  assert.equal(dry.code, 0, dry.stderr);
  const { planned, refused } = JSON.parse(dry.stdout);
  const [{ newestAt: _, ...one }] = planned;
  const whole = { runKey: journeyId, inquiries: 1, reports: 1, runs: 2 };
  assert.deepEqual([one, planned.length, refused], [whole, 1, []]);
  const authorization = ['--by', AUTHORIZATION.by, '--reason', AUTHORIZATION.reason];
  assert.equal((await cli(['dispose', journeyId, ...authorization])).code, 2, 'without --yes nothing is done');
  assert.equal((await readSealedReport(ledger, journeyId, 'PREQUAL'))?.body, report?.body);
  assert.equal((await findRuns(harness.client, journeyId, [])).closed.length, 2);

  const done = await cli(['dispose', journeyId, ...authorization, '--yes']);
  assert.equal(done.code, 0, done.stderr);
  const { disposed, scrubbed } = JSON.parse(done.stdout);
  assert.deepEqual([disposed, scrubbed], [[whole], true]);
  assert.deepEqual(await findRuns(harness.client, journeyId, []), { open: [], delivering: [], closed: [] });
  // The server deletes a history in the background, after it has removed the run.
  while (tablesWith(sent).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  for (const bytes of [...secrets, ...sealedBytes]) {
    assert.ok(!(await filesOf(harness.dataDir, 'ledger.db')).includes(bytes));
    assert.ok(!(await filesOf(serverDir, 'temporal.db')).includes(bytes));
  }
  const logged = await retentionEvents(ledger, journeyId);
  assert.deepEqual(logged.at(-1)?.details, { inquiries: 1, reports: 1, runs: 2 });
  await assert.rejects(readReport(ledger, { runKey: journeyId, productCode: 'PREQUAL' }), {
    name: 'DisposedError',
  });
  await assert.rejects(readReferences(ledger, journeyId), { name: 'Refusal', reason: 'disposed' });

  const again = await harness.start(input);
  await assert.rejects(again.result(), (error: { cause?: { type?: string; details?: unknown[] } }) => {
    const problems = [{ path: '/journeyId', rule: 'was disposed of: choose another id' }];
    assert.deepEqual([error.cause?.type, error.cause?.details], ['InvalidInput', [{ problems }]]);
    return true;
  });
  assert.equal(await requestsOf(customerTraceNumber), 1);
  // A second disposal deletes what that start has left in Temporal.
  const repeated = await disposeItem(context, journeyId, AUTHORIZATION);
  assert.ok('finished' in repeated && repeated.finished.runs === 1 && repeated.finished.inquiries === 0);
  const { planned: none, disposedAt } = await planDisposal(context, { runKey: journeyId });
  assert.deepEqual([none, disposedAt !== undefined], [[], true]);
  // A standalone share has its own id, and is kept until it is disposed of by that id.
  assert.ok('finished' in (await disposeItem(context, share, AUTHORIZATION)));
});

test('a journey that continued as new is listed as one run, and disposal deletes each of its runs', async () => {
  const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
  const { journeyId } = input;
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  const runs = await handsOver(handle);
  const listed = async () => {
    const { data } = JSON.parse((await cli(['list'])).stdout) as { data: Record<string, string>[] };
    return data.filter(({ runKey }) => runKey === journeyId).map(({ run }) => run);
  };
  // The visibility store may be a second behind.
  while ((await findRuns(harness.client, journeyId, [])).closed.length < 1)
    await new Promise((go) => setTimeout(go, 50));
  while ((await listed()).join() !== 'running') await new Promise((go) => setTimeout(go, 50));
  await update(handle, 'advance', { journeyId, to: 'PREAPP' });
  await handle.result();
  while ((await listed()).join() !== 'completed') await new Promise((go) => setTimeout(go, 50));
  const { stages, refusedMessagesTotal } = await statusOf(handle);
  assert.deepEqual([stages.length, refusedMessagesTotal], [2, 110]);
  for (const product of ['PREQUAL', 'PREAPP'] as const)
    assert.ok(await readReport(ledger, { runKey: journeyId, productCode: product }), product);
  const stored = await readReferences(ledger, journeyId);
  assert.equal(stored.references.length, 2);
  assert.equal((await ledger.inquiriesOf(journeyId)).length, 2);
  const { currentDetails } = await harness.client.workflow
    .getHandle(handle.workflowId)
    .query<{ currentDetails: string }>('__temporal_workflow_metadata');
  for (const product of ['PREQUAL', 'PREAPP']) assert.match(currentDetails, new RegExp(product));
  const { planned } = await planDisposal(context, { runKey: journeyId });
  assert.equal(planned[0]?.runs, 2);
  const done = await disposeItem(context, journeyId, AUTHORIZATION);
  assert.ok('finished' in done);
  assert.deepEqual([done.finished.inquiries, done.finished.reports, done.finished.runs], [2, 2, 2]);
  for (const runId of [runs.before, runs.after]) {
    await assert.rejects(harness.client.workflow.getHandle(handle.workflowId, runId).describe(), {
      name: 'WorkflowNotFoundError',
    });
  }
});

test('disposal succeeds although a webhook endpoint is unreachable, and deletes the pending delivery', async () => {
  const journey = journeyInput({ stages: ['PREQUAL'], profile: 'told' });
  const pull = reportPull('0001', { profile: 'told' });
  await Promise.all([(await harness.start(journey)).result(), (await startPull(harness, pull)).result()]);
  for (const runKey of [journey.journeyId, `pull:${pull.pullId}`]) {
    const delivery = harness.client.workflow.getHandle(`webhooks-${toWorkflowId(runKey)}`);
    assert.equal((await delivery.describe()).status.name, 'RUNNING');
    const { planned } = await planDisposal(context, { runKey: runKey });
    assert.deepEqual(
      planned.map(({ runs, delivering }) => [runs, delivering]),
      [[2, true]],
    );
    const done = await disposeItem(context, runKey, AUTHORIZATION);
    assert.ok('finished' in done);
    assert.deepEqual([done.finished.reports, done.finished.runs], [1, 2]);
    await assert.rejects(delivery.describe(), { name: 'WorkflowNotFoundError' });
  }
});

/** Sets a hold when `step` of a disposal has succeeded, as another operator may. */
function holdsAfter(step: 'begin' | 'recordDeletion', journeyId: string): DisposalContext {
  const { retention } = ledger;
  let isSet = false;
  const then = async <T>(done: T): Promise<T> => {
    if (!isSet) await retention.setLegalHold(journeyId, { ...AUTHORIZATION, matter: '2026-17' });
    isSet = true;
    return done;
  };
  const interrupted = new Proxy(retention, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return name === step
        ? async (...args: unknown[]) => then(await value.apply(target, args))
        : (...args: unknown[]) => value.apply(target, args);
    },
  });
  return {
    client: harness.client,
    ledger: new Proxy(ledger, {
      get: (target, name) => (name === 'retention' ? interrupted : Reflect.get(target, name)),
    }),
  };
}

for (const [step, deleted] of [
  ['begin', 0],
  ['recordDeletion', 1],
] as const) {
  test(`a legal hold that is set after ${step} stops the disposal there, which reports what was deleted`, async () => {
    const input = journeyInput({ stages: ['PREQUAL'] });
    const { journeyId } = input;
    await (await harness.start(input)).result();
    const late = consentMessage(journeyId, { applicantId: '1A', decision: 'denied' });
    await (await startLateConsent(harness.client, harness.config.taskQueue, late)).result();
    const closed = async () => (await findRuns(harness.client, journeyId, [])).closed.length;
    while ((await closed()) < 2) await new Promise((go) => setTimeout(go, 50));

    const stopped = await disposeItem(holdsAfter(step, journeyId), journeyId, AUTHORIZATION);
    while (deleted > 0 && (await closed()) > 2 - deleted) await new Promise((go) => setTimeout(go, 50));
    assert.equal(await closed(), 2 - deleted, 'histories are kept');
    assert.ok(await readSealedReport(ledger, journeyId, 'PREQUAL'));
    assert.ok('refused' in stopped);
    const { obstacles, histories } = stopped.refused;
    assert.deepEqual([obstacles.map(({ reason }) => reason), histories], [['legalHold'], deleted]);
    const plan = await planDisposal(context, { runKey: journeyId });
    assert.deepEqual(plan.refused[0]?.histories, deleted);

    await ledger.retention.releaseLegalHold(journeyId, { ...AUTHORIZATION, matter: '2026-17' });
    const done = await disposeItem(context, journeyId, AUTHORIZATION);
    assert.ok('finished' in done && done.finished.runs === 2 - deleted && done.finished.reports === 1);
    assert.equal(await closed(), 0);
  });
}

test('a legal hold on one row of a review prevents the deletion of the review’s histories by another row’s disposal', async () => {
  const input = journeyInput({ stages: ['PREQUAL'] });
  const handle = await harness.start(input);
  await handle.result();
  const run = { workflowId: handle.workflowId, runId: (await handle.describe()).runId };
  const reviewId = randomUUID();
  const [kept = '', other = ''] = ['A-1', 'A-2'].map((accountId) => `portfolio:${reviewId}/${accountId}`);
  for (const runKey of [kept, other]) {
    const customerTraceNumber = `AR${randomUUID()}`;
    const inquiry = { runKey, customerTraceNumber, productCode: 'ACCTRVW' } as const;
    await attempted(ledger, { inquiry, run }, { state: 'answered', answer: { kind: 'outcome', outcome: 'noRecord' } });
  }
  const hold = { ...AUTHORIZATION, matter: '2026-17' };
  await ledger.retention.setLegalHold(kept, hold);
  const { refused } = await planDisposal(context, { runKey: other });
  const [obstacle] = refused[0]?.obstacles ?? [];
  assert.ok(obstacle?.reason === 'legalHold' && obstacle.hold.runKey === kept);
  assert.ok('refused' in (await disposeItem(context, other, AUTHORIZATION)));
  assert.equal((await handle.describe()).status.name, 'COMPLETED');
  assert.deepEqual(await retentionEvents(ledger, other), [], 'nothing was begun');
  await ledger.retention.releaseLegalHold(kept, hold);
  const done = await disposeItem(context, other, AUTHORIZATION);
  assert.ok('finished' in done && done.finished.runs === 1);
  assert.deepEqual((await ledger.retention.setLegalHold(kept, hold))?.destroyed, { inquiries: 0, histories: 1 });
  await ledger.retention.releaseLegalHold(kept, hold);
  for (const journeyId of [kept, input.journeyId]) {
    assert.ok('finished' in (await disposeItem(context, journeyId, AUTHORIZATION)));
  }
});

test('disposal is refused while a run is open, a decision is missing, a legal hold is set or Temporal is unreachable', async () => {
  const waiting = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
  const held = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('1422'))] });
  const [open, onHold] = await Promise.all([harness.start(waiting), harness.start(held)]);
  await untilStatus(open, ({ state }) => state === 'waitingAtGate');
  const { holds } = await untilStatus(onHold, ({ state }) => state === 'held');
  const reasons = async (journeyId: string) => {
    const { refused } = await planDisposal(context, { runKey: journeyId });
    return refused[0]?.obstacles.map(({ reason }) => reason);
  };
  assert.deepEqual(await reasons(waiting.journeyId), ['runOpen']);
  assert.deepEqual(await reasons(held.journeyId), ['undecided', 'runOpen']);
  const refused = await disposeItem(context, waiting.journeyId, AUTHORIZATION);
  assert.ok('refused' in refused);
  assert.equal((await open.describe()).status.name, 'RUNNING');
  assert.deepEqual(await retentionEvents(ledger, waiting.journeyId), []);

  await Promise.all([open.terminate(), onHold.terminate()]);
  assert.deepEqual(await reasons(held.journeyId), ['undecided']);
  assert.deepEqual(await reasons(waiting.journeyId), undefined);
  const authorization = ['--by', AUTHORIZATION.by, '--reason', AUTHORIZATION.reason];
  const set = await cli(['legal-hold', 'set', waiting.journeyId, '--matter', '2026-17', ...authorization]);
  assert.equal(set.code, 0, set.stderr);
  assert.deepEqual(await reasons(waiting.journeyId), ['legalHold']);
  const dry = await cli(['dispose', waiting.journeyId, '--dry-run']);
  assert.deepEqual([dry.code, JSON.parse(dry.stdout).planned], [1, []], 'a script asks so whether it may go');
  const { released } = await ledger.retention.releaseLegalHold(waiting.journeyId, {
    ...AUTHORIZATION,
    matter: '2026-17',
  });
  assert.ok(released);

  const away = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const failed = await cli(['dispose', waiting.journeyId, ...authorization, '--yes'], away);
  assert.deepEqual([failed.code, JSON.parse(failed.stderr).error.type], [1, 'connectionRefused']);
  assert.deepEqual((await retentionEvents(ledger, waiting.journeyId)).length, 2, 'of the legal hold alone');
  assert.notEqual(await readSealedReport(ledger, waiting.journeyId, 'PREQUAL'), null);

  // A plan by age separates runs that can be disposed of from runs that must stay.
  const byAge = await planDisposal(context, { olderThanMs: 1, limit: 10 });
  assert.deepEqual([byAge.planned.map(({ runKey }) => runKey), byAge.more], [[waiting.journeyId], false]);
  assert.deepEqual(
    byAge.refused.map(({ runKey }) => runKey),
    [held.journeyId],
  );
  assert.equal(holds.length, 1);

  const right = await runInTerminal(['dispose', waiting.journeyId, ...authorization, '--yes'], [], environment());
  assert.equal(right.code, 0, right.screen);
  assert.match(right.screen, /^disposed\r?\n +INQUIRIES +REPORTS +RUNS +RUN KEY\r?\n +1 +1 +1 /m);
  assert.ok(right.screen.split('\n').every((line) => line.length <= 80));
  await assert.rejects(readSealedReport(ledger, waiting.journeyId, 'PREQUAL'), DisposedError);
  await assert.rejects(planDisposal(context, { runKey: 'nobody-knows' }), { code: 'notFound' });
});
