/** The output and the exit codes of commands about journeys and pulls. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createSampleJourney, createSamplePull } from '../../src/cli/demo/sample-runs.ts';
import type { PullStatus } from '../../src/messages/pull/shapes.ts';
import { applicant, newSsn } from '../support/journey-harness.ts';
import { type CommandStage, documentsOf, openCommandStage } from './command-stage.ts';
import { type Ran, runCli, spawnCli } from './run-cli.ts';

let stage: CommandStage;

before(async () => {
  stage = await openCommandStage();
});
after(() => stage?.close());

const cli = (...args: string[]) => stage.cli(...args);
const done = (...args: string[]) => stage.done(...args);

describe('a journey on the command line', { concurrency: 4 }, () => {
  test('can be shared by a standalone share after its end, and the ledger records the share', async () => {
    const journeyId = `J-${randomUUID()}`;
    const shareId = `S-${randomUUID().slice(0, 8)}`;
    await done('start', '--sample', '--journey-id', journeyId);
    await stage.eventually(`credit-journey report ${journeyId} PREQUAL`);
    await done('withdraw', journeyId, '--by', 'ops', '--reason', 'a test');
    await cli('watch', journeyId);
    const options = ['--share-id', shareId, '--end-user-code', 'EU789', '--permissible-purpose-code', '02'];
    const refused = await cli('share', journeyId, ...options, '--report-of', 'PREQUAL');
    assert.equal(refused.code, 1);
    const { type, message } = JSON.parse(refused.stderr).error;
    assert.equal(type, 'shareAfterEnd');
    assert.match(message, /`credit-journey share --ended`/);
    const shared = await done('share', journeyId, '--ended', ...options, '--product-code', 'PREQUAL');
    assert.deepEqual([shared.shareId, shared.isNew, shared.run], [shareId, true, 'running']);
    for (const applicantId of ['1A', '2A']) {
      const evidence = ['--method', 'web', '--text-version', 'v1', '--reference', 'doc-1'];
      const decision = ['--consent-id', `C-${applicantId}`, '--decision', 'granted', '--end-user-code', 'EU789'];
      await done('consent', `share:${shareId}`, '--applicant-id', applicantId, ...decision, ...evidence);
    }
    await cli('watch', `share:${shareId}`);
    assert.equal((await done('status', `share:${shareId}`)).state, 'posted');
    const { data: shares } = await done('shares', '--run-key', journeyId);
    assert.deepEqual(
      shares.map((one: { runKey: string; sharedBy: string; endUserCode: string }) => [
        one.runKey,
        one.sharedBy,
        one.endUserCode,
      ]),
      [[`share:${shareId}`, 'EU123', 'EU789']],
    );
    assert.equal(shares[0].report.runKey, journeyId);
    assert.equal(shares[0].consents.length, 2);

    // This withdrawal comes after the end. The ledger lists it until an operator has handled it.
    const withdrawal = ['--applicant-id', '1A', '--consent-id', 'C-1A-2', '--decision', 'revoked'];
    await done('consent', `share:${shareId}`, ...withdrawal, '--end-user-code', 'EU789');
    const readFlags = async (): Promise<{ runKey: string; customerTraceNumber: string }[]> => {
      const { data } = JSON.parse((await cli('holds')).stdout);
      return data.filter(({ runKey }: { runKey: string }) => runKey === `share:${shareId}`);
    };
    const [flag] = await readFlags();
    const customerTraceNumber = flag?.customerTraceNumber ?? assert.fail('the withdrawal is not on the list');
    const word = ['--by', 'ops', '--reason', 'told the secondary user'];
    const unmatched = await done('seen', 'consents', '--run-key', journeyId, ...word);
    assert.deepEqual(unmatched, { accepted: true, count: 0 });
    await done('seen', 'inquiry', customerTraceNumber, ...word);
    assert.deepEqual(await readFlags(), []);
  });

  test('is started, watched line by line, given its consent, and read', async () => {
    const journeyId = `J-${randomUUID()}`;
    const started = await done('start', '--sample', '--auto', '--journey-id', journeyId);
    assert.deepEqual([started.journeyId, started.isNew, started.run], [journeyId, true, 'running']);
    const watch = cli('watch', journeyId);
    for (const applicantId of ['1A', '2A']) {
      const evidence = ['--method', 'web', '--text-version', 'v1', '--reference', 'doc-1'];
      const about = ['--share-id', 'S-1', '--applicant-id', applicantId, '--consent-id', `C-${applicantId}`];
      const granted = ['--decision', 'granted', '--end-user-code', 'EU456'];
      const answer = await done('consent', journeyId, ...about, ...granted, ...evidence);
      assert.equal(answer.answer, 'accepted');
    }
    const { code, stdout, stderr } = await watch;
    assert.equal(code, 0, stderr);
    const statuses = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(statuses.at(-1).state, 'completed');
    assert.equal(statuses.at(-1).shares[0].state, 'posted');
    assert.doesNotMatch(stdout, /9001|example\.com|Sample/i);
    assert.equal((await done('references', journeyId)).references.length, 3);
    const [share] = (await done('shares', '--run-key', journeyId)).data;
    assert.deepEqual([share.sharedBy, share.endUserCode, share.report.productCode], ['EU123', 'EU456', 'PRECLOSE']);

    const again = await cli('start', '--sample', '--journey-id', journeyId);
    assert.equal(again.code, 1);
    assert.equal(JSON.parse(again.stderr).error.type, 'differs');
    const revoked = ['--share-id', 'S-1', '--applicant-id', '1A', '--consent-id', 'C-1A', '--decision', 'revoked'];
    const late = await cli('consent', journeyId, ...revoked, '--end-user-code', 'EU456');
    const { stands, ...answer } = JSON.parse(late.stdout);
    assert.deepEqual(answer, { answer: 'accepted', duplicate: false, recorded: true, postedSharesFlagged: 1 });
    const { since, ...standing } = stands;
    assert.deepEqual(standing, { decision: 'revoked', consentId: 'C-1A', changed: true });
    assert.ok(since <= new Date().toISOString(), since);
  });

  test('accepts a repeated command as a duplicate, and refuses other content under the same key', async () => {
    const journeyId = `J-${randomUUID()}`;
    const sample = ['start', '--sample', '--journey-id', journeyId];
    assert.equal((await done(...sample)).isNew, true);
    assert.equal((await done(...sample)).isNew, false);
    const other = await cli(...sample, '--auto');
    assert.equal(other.code, 1);
    const { type, problems } = JSON.parse(other.stderr).error;
    assert.equal(type, 'differs');
    const paths = problems.map(({ path }: { path: string }) => path);
    assert.deepEqual(paths, ['/gates/PREAPP/pass', '/gates/PRECLOSE/pass']);

    const advance = ['advance', journeyId, '--to', 'PRECLOSE'];
    assert.equal((await done(...advance)).duplicate, false);
    assert.equal((await done(...advance)).duplicate, true);
    const file = join(stage.harness.dataDir, `${journeyId}.json`);
    await writeFile(file, JSON.stringify({ applicants: [applicant('1A')] }));
    const refused = await cli(...advance, '--file', file);
    assert.equal(refused.code, 1);
    assert.match(JSON.parse(refused.stderr).error.message, /accepted before with other content: \/applicants differs$/);

    await done('withdraw', journeyId, '--by', 'ops', '--reason', 'test');
  });

  test('ends watch and status with exit code 3 if it needs an operator', async () => {
    const journeyId = `J-${randomUUID()}`;
    const file = join(stage.harness.dataDir, `${journeyId}.json`);
    const applicants = [applicant('1A', newSsn('3408'))];
    await writeFile(file, JSON.stringify({ ...createSampleJourney({ journeyId, auto: true }), applicants }));
    const started = await cli('start', '--file', file, '--watch');
    assert.equal(started.code, 3, started.stderr);
    const [first = '', ...lines] = started.stdout.trim().split('\n');
    assert.equal(JSON.parse(first).journeyId, journeyId);
    assert.equal(JSON.parse(lines.at(-1) ?? '').holds[0].failureType, 'OutcomeUnknown');
    assert.equal((await cli('status', journeyId)).code, 3);
    const { data: journeys } = await done('list', '--open', '--needs-attention', '--limit', '200');
    assert.ok(journeys.some((one: { runKey: string }) => one.runKey === journeyId));
  });

  test('ends a command with exit code 1 if it is unknown or refuses the message', async () => {
    const journeyId = `J-${randomUUID()}`;
    const missing = await cli('status', journeyId);
    assert.equal(missing.code, 1);
    const { type, hint } = JSON.parse(missing.stderr).error;
    assert.equal(type, 'notFound');
    assert.match(hint, /`credit-journey list --kind journey` shows/);
    await done('start', '--sample', '--journey-id', journeyId);
    for (const command of [['status'], ['report', 'PREQUAL']] as const) {
      const [name, ...rest] = command;
      const byWorkflowId = await cli(name, `journey-${journeyId}`, ...rest);
      assert.match(JSON.parse(byWorkflowId.stderr).error.hint, new RegExp(`the id of that run is ${journeyId}$`));
    }
    const refused = await cli('advance', journeyId, '--to', 'PREQUAL');
    assert.equal(refused.code, 1);
    assert.match(JSON.parse(refused.stderr).error.message, /no gate before PREQUAL/);
    const denial = ['--consent-id', 'C-1', '--decision', 'denied', '--end-user-code', 'EU456'];
    const unknown = await cli('consent', journeyId, '--share-id', 'S-1', '--applicant-id', '9A', ...denial);
    const { error } = JSON.parse(unknown.stderr);
    assert.match(error.message, / refused: \/applicantId names no applicant/);
    assert.deepEqual([error.type, error.problems[0].path], ['unknownPart', '/applicantId']);
  });
});

test('status shows the problem and its rule if the worker refuses the input', async () => {
  const journeyId = `J-${randomUUID()}`;
  const file = join(stage.harness.dataDir, `${journeyId}.json`);
  const applicants = Array.from({ length: 9 }, (_, index) => applicant(`${index + 1}A`));
  await writeFile(file, JSON.stringify({ ...createSampleJourney({ journeyId, auto: true }), applicants }));
  const started = await runCli(['start', '--file', file, '--watch'], { env: stage.env, cwd: stage.harness.dataDir });
  assert.equal(started.code, 2, started.stderr);
  const { type, problems } = JSON.parse(started.stderr).error;
  assert.equal(type, 'invalidInput');
  assert.deepEqual(problems, [
    {
      path: '/applicants',
      rule: 'must have at most 2 entries, by GATEWAY_MAX_APPLICANTS: the interface says "typically 1 to 2"',
    },
  ]);
  const told = await done('status', journeyId);
  assert.deepEqual([told.state, told.problems], ['failed', problems]);
  const watched = await cli('watch', journeyId);
  const { error } = JSON.parse(watched.stderr);
  assert.deepEqual([watched.code, error.type, error.problems], [1, 'runFailed', problems]);
  assert.doesNotMatch(started.stderr, /9001|example/);
});

describe('a single pull on the command line', { concurrency: 4 }, () => {
  const told = async (command: string, code: number): Promise<Ran> => {
    const ran = await stage.shell.run(`credit-journey ${command}`, stage.env);
    assert.equal(ran.code, code, `${command}: ${ran.stderr}`);
    return ran;
  };

  test('ends with exit code 3 if it needs an operator, and is resolved by the id that lists show', async () => {
    const id = `P-${randomUUID()}`;
    const watched = await told(`pull --sample --product-code ACCTRVW --lose-answer --pull-id ${id} --watch`, 3);
    const [started, ...statuses] = documentsOf<PullStatus>(watched.stdout);
    assert.equal(started?.pullId, id);
    assert.equal(statuses.at(-1)?.holds[0]?.failureType, 'OutcomeUnknown');
    const { data } = JSON.parse((await told('holds', 3)).stdout) as { data: { runKey: string }[] };
    assert.ok(data.some((one) => one.runKey === `pull:${id}`));
    await told(`status pull:${id}`, 3);
    const decided = '--attempt 1 --action resend --by ops --provider-said notPosted --reason asked';
    await told(`resolve pull:${id} ${decided}`, 0);
    await told(`watch pull:${id}`, 0);
    const { references } = JSON.parse((await told(`references pull:${id}`, 0)).stdout) as { references: unknown[] };
    assert.equal(references.length, 1);
    await told(`report pull:${id} ACCTRVW`, 0);
  });

  test('can start from a file, is found by a repeated start, and refuses other input under its id', async () => {
    const pullId = `P-${randomUUID()}`;
    const file = join(stage.shell.directory, `${pullId}.json`);
    const input = createSamplePull({ pullId, productCode: 'FAILSAFE', loseAnswer: false });
    await writeFile(file, JSON.stringify(input));
    await told(`pull --file ${file} --watch`, 0);
    await told(`pull --file - < ${file}`, 0);
    const { consumers } = JSON.parse((await told(`references pull:${pullId}`, 0)).stdout) as { consumers: unknown[] };
    assert.equal(consumers.length, 1);
    const other = await told(`pull --sample --product-code CR --pull-id ${pullId}`, 1);
    assert.equal(JSON.parse(other.stderr).error.type, 'differs');
  });

  test('is refused with exit code 2 if its options are invalid', async () => {
    const cases: [command: string, expected: RegExp][] = [
      ['pull', /give either --file or --sample/],
      ['pull --sample --product-code SECONDUSE', /must be one of CR, .*--product-code/],
      ['pull --file - --lose-answer', /give either --file or --sample/],
      ['pull --sample --pull-id 900-11-0001', /\/pullId/],
      ['status pull:900-11-0001', /\/pullId/],
    ];
    for (const [command, expected] of cases) {
      const { stderr } = await told(command, 2);
      assert.match(stderr, expected);
      assert.doesNotMatch(stderr, /900-11/);
    }
  });
});

test('setup creates the ledger and prints its id, also outside the sandbox', async () => {
  const keys = join(stage.harness.dataDir, 'uat-keys.json');
  await done('keys', 'new', '--file', keys);
  const uat = {
    ...stage.env,
    GATEWAY_ENVIRONMENT: 'uat',
    LEDGER_URL: `file:${join(stage.harness.dataDir, 'uat.db')}`,
    KEY_RING_FILE: keys,
  };
  const ran = await runCli(['setup', '--no-temporal'], { env: uat });
  assert.equal(ran.code, 0, ran.stderr);
  const { ledger } = JSON.parse(ran.stdout);
  assert.equal(ledger.environment, 'uat');
  const other = await runCli(['setup', '--no-temporal'], { env: { ...uat, LEDGER_ID: 'another' } });
  assert.equal(other.code, 1);
  assert.match(other.stderr, /another was asked for/);
  const unknown = await runCli(['setup', '--no-ledger', '--namespace', 'nowhere'], { env: stage.env });
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /no namespace nowhere/);
});

test('the worker command reports that it is ready, runs a journey, and stops cleanly at a signal, also if it comes twice', async (t) => {
  const taskQueue = `test-${randomUUID()}`;
  const worker = spawnCli(['worker', '--task-queue', taskQueue], { env: stage.env });
  t.after(() => worker.kill('SIGKILL'));
  worker.stderr?.resume();
  const lines = createInterface(worker.stdout ?? assert.fail());
  const [line] = await once(lines, 'line');
  assert.deepEqual(JSON.parse(line), {
    ready: true,
    taskQueue,
    environment: 'sandbox',
    namespace: stage.env.TEMPORAL_NAMESPACE,
  });
  const journeyId = `J-${randomUUID()}`;
  await done('start', '--sample', '--journey-id', journeyId, '--task-queue', taskQueue);
  assert.equal((await done('status', journeyId)).journeyId, journeyId);
  worker.kill('SIGHUP');
  // A terminal sends its signals to the launcher and to the program, and the launcher passes them on.
  await setTimeout(20);
  for (const signal of ['SIGHUP', 'SIGINT'] as const) worker.kill(signal);
  assert.deepEqual(await once(worker, 'exit'), [0, null]);
});
