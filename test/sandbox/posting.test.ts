import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { startSandbox } from '../../sandbox/server.ts';
import { Caller, json, pullReport, reportRequest, secondaryUse } from './caller.ts';

async function stateFile(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'sandbox-'));
  t.after(() => rm(directory, { recursive: true }));
  return join(directory, 'deep', 'state.jsonl');
}

test('a posted inquiry is listed with its codes, references, number of applicants and time', async (t) => {
  const caller = await Caller.start(t);
  const report = await pullReport(caller, '0001', '0002');
  const [inquiry] = await caller.inquiries();
  const { customerTraceNumber, postedAt, ...rest } = inquiry ?? {};
  assert.match(String(customerTraceNumber), /^TRACE/);
  assert.ok(Math.abs(Date.parse(String(postedAt)) - Date.now()) < 60_000);
  const applicants = report.applicants as { consumerId: string }[];
  assert.deepEqual(rest, {
    productCode: 'PREQUAL',
    endUserCode: 'LENDER01',
    endUser: null,
    applicants: 2,
    reportReferenceNumber: report.reportReferenceNumber,
    consumerIds: applicants.map(({ consumerId }) => consumerId),
  });
});

test('the sandbox posts each request, even with a repeated trace number', async (t) => {
  const caller = await Caller.start(t);
  const request = reportRequest();
  await Promise.all([1, 2, 3].map(() => caller.post(request)));
  assert.equal((await caller.inquiries()).length, 3);
  const attempts = (await caller.requests()).map(({ attempt }) => attempt);
  assert.deepEqual(attempts.sort(), [1, 2, 3]);
});

test('each request is listed with its status and without personal data', async (t) => {
  const caller = await Caller.start(t);
  const request = reportRequest();
  await caller.post(request);
  await caller.post(reportRequest({ applicants: [] }));
  const listed = await caller.requests();
  const { receivedAt, ...first } = listed[0] ?? {};
  assert.ok(Date.parse(String(receivedAt)));
  assert.deepEqual(first, {
    customerTraceNumber: request.customerTraceNumber,
    productCode: 'PREQUAL',
    attempt: 1,
    tokenId: 'T1',
    authorized: true,
    posted: true,
    status: 200,
    fault: null,
  });
  assert.equal(listed[1]?.posted, false);
  assert.equal(listed[1]?.status, 400);
  const text = JSON.stringify(listed);
  for (const personal of ['912340001', 'Maya', 'maya@example.com', '2025550123', '192.0.2.10']) {
    assert.ok(!text.includes(personal));
  }
});

test('a reset deletes everything except tokens, and requests under way are never posted', async (t) => {
  const caller = await Caller.start(t, { stateFile: await stateFile(t) });
  const report = await pullReport(caller, '0001');
  await caller.plan({ fault: 'slowBeforePosting', delayMs: 60_000 });
  const underWay = caller.post(reportRequest());
  while ((await caller.requests()).length < 2) await new Promise(setImmediate);
  assert.equal((await caller.admin('POST', 'reset')).status, 200);
  assert.equal((await underWay).status, 0);
  assert.deepEqual(await caller.inquiries(), []);
  assert.deepEqual(await caller.requests(), []);
  assert.deepEqual(json(await caller.admin('GET', 'faults')).rules, []);
  assert.equal((await caller.post(secondaryUse(report))).status, 422);
  assert.equal((await caller.post(reportRequest())).status, 200);
});

test('inquiries, references and the posting count survive a restart in the state file', async (t) => {
  const path = await stateFile(t);
  const request = reportRequest();
  const before = await startSandbox({ stateFile: path });
  const first = json(await (await Caller.of(before)).post(request));
  await before.close();
  await appendFile(path, '{"inquiry":{"customerTr');
  const caller = await Caller.start(t, { stateFile: path });
  assert.equal((await caller.inquiries()).length, 1);
  assert.equal((await caller.post(secondaryUse(first))).status, 200);
  assert.notEqual(json(await caller.post(request)).reportReferenceNumber, first.reportReferenceNumber);
  const again = await startSandbox({ stateFile: path });
  t.after(() => again.close());
  assert.equal((await (await Caller.of(again)).inquiries()).length, 3);
});

test('the sandbox refuses to start on a damaged state file and reports only the line number', async (t) => {
  const path = await stateFile(t);
  await (await startSandbox({ stateFile: path })).close();
  await writeFile(path, 'somebody\n');
  await assert.rejects(startSandbox({ stateFile: path }), { message: "the sandbox's state file is damaged in line 1" });
});

test('the sandbox refuses invalid options', async () => {
  for (const options of [
    { port: 70_000 },
    { port: Number.NaN },
    { timeZone: 'Mars/Olympus' },
    { tokenLifetimeSeconds: 0 },
    { latencyMs: -1 },
    { seed: 0.5 },
    { host: 'sandbox.example.com' },
  ]) {
    await assert.rejects(startSandbox(options), RangeError);
  }
});

test('the latency delays the answer, not the posting', async (t) => {
  const caller = await Caller.start(t, { latencyMs: 60_000 });
  const lost = await caller.post(reportRequest(), { patienceMs: 200 });
  assert.equal(lost.status, 0);
  assert.equal((await caller.inquiries()).length, 1);
});

async function spawnSandbox(t: TestContext, ...flags: string[]): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../sandbox/main.ts'), ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  assert.ok(child.stdout);
  const [line] = await once(createInterface(child.stdout), 'line');
  return { child, line: String(line) };
}

test('the sandbox process recovers its state file after kill -9 and exits on SIGTERM', async (t) => {
  const path = await stateFile(t);
  const first = await spawnSandbox(t, '--port', '0', '--json', '--state-file', path);
  const address = JSON.parse(first.line);
  assert.deepEqual(Object.keys(address), ['url', 'port']);
  const caller = await Caller.of({ ...address, close: async () => undefined });
  await caller.post(reportRequest());
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  const second = await spawnSandbox(t, '--port', String(address.port), '--state-file', path);
  assert.equal(second.line, `sandbox gateway at ${address.url}`);
  assert.equal((await caller.inquiries()).length, 1);
  assert.equal((await caller.post(reportRequest())).status, 401);
  second.child.kill('SIGTERM');
  assert.deepEqual(await once(second.child, 'exit'), [0, null]);
});

test('the journal has connections, requests, postings and statuses, and no SSN', async (t) => {
  const journalFile = await stateFile(t);
  const caller = await Caller.start(t, { journalFile });
  await pullReport(caller, '0001', '0002');
  const text = await readFile(journalFile, 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const requestId = lines.find(({ kind }) => kind === 'head')?.requestId;
  assert.ok(requestId);
  const ofRequest = lines.filter((line) => line.requestId === requestId);
  assert.deepEqual(
    ofRequest.map(({ kind }) => kind),
    ['head', 'request', 'posted', 'answered'],
  );
  assert.equal(lines[0]?.kind, 'listening');
  assert.ok(lines.some(({ kind }) => kind === 'connection'));
  assert.match(String(ofRequest[1]?.digest), /^[0-9a-f]{64}$/);
  assert.doesNotMatch(text, /\b9\d{8}\b/);
});
