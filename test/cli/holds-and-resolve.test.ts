import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import { RECORD } from '../ledger/fixtures.ts';
import {
  applicant,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  type PostedInquiry,
  startHarness,
  untilStatus,
} from '../support/journey-harness.ts';
import { openLedgerOf } from '../support/ledger-access.ts';
import { environmentOf } from './command-stage.ts';
import { type Ran, runCli } from './run-cli.ts';
import { runInTerminal } from './run-in-terminal.ts';

let harness: Harness;
let env: Record<string, string>;
let ledger: Ledger;

before(async () => {
  harness = await startHarness();
  env = environmentOf(harness);
  ledger = await openLedgerOf(harness);
});
after(async () => {
  await ledger?.close();
  await harness?.close();
});

const cli = (...args: string[]) => runCli(args, { env, cwd: harness.dataDir });

interface Shown {
  runKey: string;
  customerTraceNumber: string;
  kind: string;
  command: string;
  failureType: string;
  profile: string;
  endUserCode: string;
  allowedActions: string[];
}

interface Held {
  handle: JourneyHandle;
  input: LendingJourneyInput;
  status: JourneyStatus;
  trace: string;
}

/** Starts a journey of one stage that goes on hold. The digits of its applicant's SSN select the reason. */
async function held(lastFour: string, endUserCode = 'EU123'): Promise<Held> {
  const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))], endUserCode });
  const handle = await harness.start(input);
  const status = await untilStatus(handle, ({ state }) => state === 'held');
  return { handle, input, status, trace: status.holds[0]?.customerTraceNumber ?? assert.fail() };
}

/** Runs `holds` until its list meets the condition. */
async function holdsUntil(
  isWanted: (holds: Shown[]) => boolean,
  ...args: string[]
): Promise<{ ran: Ran; holds: Shown[] }> {
  for (let tries = 1; ; tries++) {
    const ran = await cli('holds', ...args);
    const { data: holds } = JSON.parse(ran.stdout) as { data: Shown[] };
    if (isWanted(holds)) return { ran, holds };
    assert.ok(tries < 20, ran.stdout);
  }
}

const of = (journeyId: string) => (hold: Shown) => hold.runKey === journeyId;

/** Writes the reference from the provider's books into a file. */
async function referenceFile({ handle, trace }: Held): Promise<{ path: string; reportReferenceNumber: string }> {
  const posted = (await harness.posted(handle)) as unknown as {
    customerTraceNumber: string;
    reportReferenceNumber: string;
    consumerIds: string[];
    postedAt: string;
  }[];
  const row = posted.find(({ customerTraceNumber }) => customerTraceNumber === trace) ?? assert.fail();
  const { reportReferenceNumber, postedAt, consumerIds } = row;
  const applicants = [{ applicantId: '1A', consumerId: consumerIds[0] }];
  const path = join(harness.dataDir, `${randomUUID()}.json`);
  await writeFile(path, JSON.stringify({ reference: { reportReferenceNumber, requestedAt: postedAt, applicants } }));
  return { path, reportReferenceNumber };
}

/** Counts the requests that the gateway has received for the journey. */
async function received({ trace }: Held): Promise<number> {
  const rows = (await (await fetch(`${harness.sandboxUrl}/_sandbox/requests`)).json()) as PostedInquiry[];
  return rows.filter(({ customerTraceNumber }) => customerTraceNumber === trace).length;
}

const WHO = ['--by', 'ops', '--reason', 'asked the provider'];

test('the holds command prints an empty list if there are no holds', async () => {
  const none = await cli('holds');
  assert.equal(none.code, 0, none.stderr);
  assert.deepEqual(JSON.parse(none.stdout), { data: [], hasMore: false });
});

describe('a hold on the command line', { concurrency: 4 }, () => {
  test('is listed with the command that resolves it', async () => {
    const one = await held('4002');
    const { journeyId } = one.input;
    const { ran, holds } = await holdsUntil((list) => list.some(of(journeyId)));
    assert.equal(ran.code, 3);
    const hold = holds.find(of(journeyId)) ?? assert.fail();
    assert.equal(hold.failureType, 'OutcomeUnknown');
    assert.equal(hold.kind, 'held');
    assert.deepEqual(hold.allowedActions, ['resend', 'accept', 'abandon']);
    assert.equal(hold.command, `credit-journey resolve ${journeyId} ${one.trace} --attempt 1`);

    const later = new Date(Date.now() + 60_000).toISOString();
    const others = await cli('holds', '--failure-type', 'OutcomeUnknown', '--since', later);
    assert.equal(others.code, 0, others.stderr);
    assert.deepEqual(JSON.parse(others.stdout).data, []);

    const { path, reportReferenceNumber } = await referenceFile(one);
    const [, ...shown] = hold.command.split(' ');
    const accept = ['--action', 'accept', '--provider-said', 'posted', '--outcome', 'record', '--file', path];
    const resolved = await cli(...shown, ...accept, ...WHO, '--decision-id', 'D-1');
    assert.equal(resolved.code, 0, resolved.stderr);
    assert.equal(JSON.parse(resolved.stdout).decisionId, 'D-1');
    const result = await one.handle.result();
    assert.equal(result.stages[0]?.reportReferenceNumber, reportReferenceNumber);
    assert.equal(await received(one), 1);
    assert.equal((await ledger.inquiry(one.trace))?.decisions[0]?.by, 'ops');
  });

  test('is listed for a lost run, and a late message is listed until an operator marks it as seen', async () => {
    const one = await held('4002');
    const { journeyId } = one.input;
    await one.handle.terminate('gone');
    const { holds, ran } = await holdsUntil((list) => list.some(of(journeyId)));
    assert.equal(ran.code, 3);
    assert.equal(holds.filter(of(journeyId)).length, 1);
    const left = holds.find(of(journeyId)) ?? assert.fail();
    assert.equal(left.command, `credit-journey resolve ${journeyId} ${one.trace} --attempt 1`);
    assert.equal(left.kind, 'held');
    const [, ...shown] = left.command.split(' ');
    const applicants = join(harness.dataDir, `${randomUUID()}.json`);
    await writeFile(applicants, JSON.stringify({ applicants: one.input.applicants }));
    const amended = ['--action', 'amend', '--provider-said', 'unknown', '--file', applicants];
    assert.match((await cli(...shown, ...amended, ...WHO)).stderr, /allows resend, accept, abandon without a run/);
    const abandon = ['--action', 'abandon', '--provider-said', 'unknown', ...WHO];
    const other = await cli('resolve', 'J-OTHER', ...shown.slice(2), ...abandon);
    assert.match(other.stderr, /notFound/);
    const abandoned = await cli(...shown, ...abandon);
    assert.equal(abandoned.code, 0, abandoned.stderr);
    assert.equal(JSON.parse(abandoned.stdout).heldBy, 'ledger');

    const late = { ledgerId: ledger.identity.ledgerId, customerTraceNumber: one.trace, attempt: 1 };
    await ledger.recordOutcome({ ...late, state: 'answered', answer: RECORD });
    const drawn = (await holdsUntil((list) => list.some(of(journeyId)))).holds.find(of(journeyId)) ?? assert.fail();
    assert.deepEqual([drawn.kind, drawn.failureType], ['flagged', 'lateAnswer']);
    const seen = ['seen', 'inquiry', one.trace];
    assert.ok(drawn.command.startsWith(`credit-journey ${seen.join(' ')} --by `), drawn.command);
    const looked = await cli(...seen, ...WHO);
    assert.equal(looked.code, 0, looked.stderr);
    assert.ok(!JSON.parse((await cli('holds')).stdout).data.some(of(journeyId)));
    const again = await cli(...seen, ...WHO);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /no such row is on the list/);
  });

  test('is decided by --all like each hold of its type, after a preview, and failures are reported', async () => {
    const [one, other, ending] = [await held('3403'), await held('3403'), await held('3403')];
    const { journeyId } = ending.input;
    await cli('withdraw', journeyId, '--by', 'ops', '--reason', 'a test');
    const mine = [one, other, ending].map(({ input }) => input.journeyId).sort();
    const type = ['--failure-type', 'NotEntitled'];
    await holdsUntil((list) => list.length === 3, ...type);
    const all = ['resolve', '--all', ...type, '--action', 'resend', '--provider-said', 'notAsked', ...WHO];
    const shown = await cli(...all);
    assert.equal(shown.code, 2);
    const { planned } = JSON.parse(shown.stdout) as {
      planned: { runKey: string; attempt: number }[];
    };
    assert.deepEqual(planned.map((row) => row.runKey).sort(), mine);
    assert.match(shown.stderr, /--yes decides about these 3/);
    assert.deepEqual((await ledger.inquiry(one.trace))?.decisions, []);

    const ran = await cli(...all, '--yes');
    assert.equal(ran.code, 1, 'one failed');
    const { inquiries } = JSON.parse(ran.stdout) as {
      inquiries: { runKey: string; result: string; detail?: string }[];
    };
    const failed = inquiries.filter(({ result }) => result !== 'decided');
    assert.deepEqual(
      failed.map((row) => row.runKey),
      [journeyId],
    );
    assert.match(failed[0]?.detail ?? '', /the run is ending/);
    for (const resent of [one, other]) {
      assert.equal((await resent.handle.result()).stages[0]?.state, 'record');
      assert.equal(await received(resent), 2);
    }
    await cli('resolve', journeyId, '--attempt', '1', '--action', 'abandon', '--provider-said', 'notAsked', ...WHO);
  });

  test('is shown on a terminal by resolve, which asks for missing options and explains the effect before it acts', async () => {
    const one = await held('4002');
    const { path, reportReferenceNumber } = await referenceFile(one);
    const { requestedAt, applicants } = JSON.parse(await readFile(path, 'utf8')).reference;
    const { code, screen } = await runInTerminal(
      ['resolve', one.input.journeyId],
      [
        [/Number or word: /, 'amend'],
        [/one of resend, accept, abandon[\s\S]*Number or word: /, '2'],
        [/The outcome, as the provider gives it[\s\S]*Number or word: /, 'record'],
        [/What the provider says[\s\S]*Number or word: /, 'posted'],
        [/reportReferenceNumber: /, reportReferenceNumber],
        [/When the request was made.*: /, 'yesterday'],
        [/RFC 3339[\s\S]*When the request was made.*: /, requestedAt],
        [/applicantId of an applicant .*: /, '1A'],
        [/consumerId of 1A: /, applicants[0].consumerId],
        [/a further applicant\? \[y\/N\] /, ''],
        [/Who decides.*: /, 'ops'],
        [/Why: /, 'it is in their books'],
        [/Decide accept\? \[y\/N\] /, 'y'],
      ],
      env,
    );
    assert.equal(code, 0, screen);
    for (const part of ['OutcomeUnknown', one.trace, 'Nothing is sent', 'decided, as D-']) {
      assert.ok(screen.includes(part), `${part} is missing in:\n${screen}`);
    }
    assert.ok(!screen.slice(screen.indexOf('decided, as D-')).includes('credit-journey resolve'), screen);
    assert.equal((await one.handle.result()).stages[0]?.reportReferenceNumber, reportReferenceNumber);
  });

  test('stays undecided on a terminal after the answer no and after Ctrl-C', async () => {
    const one = await held('4002');
    const decision = ['--action', 'abandon', '--provider-said', 'posted', ...WHO];
    const args = ['resolve', one.input.journeyId, one.trace, ...decision];
    const no = await runInTerminal(args, [[/Decide abandon\? \[y\/N\] /, '']], env);
    assert.equal(no.code, 3, no.screen);
    const left = await runInTerminal(args, [[/Decide abandon\? \[y\/N\] /, '\u0003']], env);
    assert.equal(left.code, 130, left.screen);
    assert.deepEqual((await ledger.inquiry(one.trace))?.decisions, []);

    await one.handle.terminate('gone');
    const answers: [RegExp, string][] = [
      [/What may be decided[\s\S]*Number or word: /, 'abandon'],
      [/What the provider says[\s\S]*Number or word: /, 'notPosted'],
      [/Who decides.*: /, 'ops'],
      [/Why: /, 'no such inquiry'],
      [/The run is gone[\s\S]*Decide abandon\? \[y\/N\] /, 'y'],
    ];
    const done = await runInTerminal(['resolve', one.input.journeyId], answers, env);
    assert.equal(done.code, 0, done.screen);
    assert.equal((await ledger.inquiry(one.trace))?.decisions[0]?.reason, 'no such inquiry');
  });

  test('is listed on a terminal in 80 columns with a command to copy, and --all asks before it decides', async () => {
    const one = await held('3422', 'EU777');
    const { holds } = await holdsUntil((list) => list.some(of(one.input.journeyId)), '--end-user-code', 'EU777');
    assert.deepEqual(
      holds.map(({ runKey, profile, endUserCode }) => [runKey, profile, endUserCode]),
      [[one.input.journeyId, 'default', 'EU777']],
    );
    const mine = ['--failure-type', 'RequestRefused', '--end-user-code', 'EU777', '--profile', 'default'];
    const { screen, code } = await runInTerminal(['holds', ...mine], [], env);
    assert.equal(code, 3, screen);
    for (const line of screen.split('\n')) assert.ok(line.length <= 80, line);
    assert.match(screen, /^KIND +FAILURE TYPE[\s\S]*^held +RequestRefused/m);
    const copied = screen.replaceAll(/ \\\n\s*/g, ' ');
    assert.ok(copied.includes(`npx credit-journey resolve ${one.input.journeyId} ${one.trace} --attempt 1`), screen);

    const file = join(harness.dataDir, `${randomUUID()}.json`);
    const [pullId, applicants] = [`P-${randomUUID()}`, [applicant('1A', newSsn('3422'))]];
    const pull = { pullId, productCode: 'CR', endUserCode: 'EU777', permissiblePurposeCode: '01', applicants };
    await writeFile(file, JSON.stringify(pull));
    assert.equal((await cli('pull', '--file', file)).code, 0);
    await holdsUntil((list) => list.some(of(`pull:${pullId}`)), '--end-user-code', 'EU777');

    const args = ['resolve', '--all', ...mine, '--provider-said', 'notAsked', ...WHO];
    const answers: [RegExp, string][] = [
      [/CUSTOMER TRACE NUMBER[\s\S]*1 +amend[\s\S]*2 +abandon[\s\S]*Number or word: /, '2'],
      [/ends with this\s+stage[\s\S]*The pull ends with it\.[\s\S]*Decide abandon about these 2\? \[y\/N\] /, 'y'],
    ];
    const all = await runInTerminal(args, answers, env);
    assert.equal(all.code, 0, all.screen);
    assert.match(all.screen, /2 decided, 0 failed/);
    assert.equal((await one.handle.result()).outcome, 'abandoned');
  });
});
