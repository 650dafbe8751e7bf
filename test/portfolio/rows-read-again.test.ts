/** A worker with other limits or rules reads the rows of an examined file: none is skipped silently. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ExaminedFile } from '../../src/activities/contract.ts';
import type { ActivityDependencies } from '../../src/activities/dependencies.ts';
import { createPortfolioActivities } from '../../src/activities/portfolio-activities.ts';
import type { SendingProfile } from '../../src/gateway/sendable-applicants.ts';
import { FOLDER, jointLine, jsonlLine, writePortfolio } from '../support/portfolio-files.ts';

const WIDE: SendingProfile = {
  environment: 'sandbox',
  ssnsWithNine: 'refuse',
  accents: 'pass',
  limits: { maxApplicants: 2 },
};
const NARROW: SendingProfile = { ...WIDE, limits: { maxApplicants: 1 } };
const SENDS_ALL: SendingProfile = { ...WIDE, environment: 'uat', ssnsWithNine: 'send' };
const SENDS_NONE_WITH_NINE: SendingProfile = { ...SENDS_ALL, ssnsWithNine: 'refuse' };

let directory: string;
let count = 0;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-read-again-'));
});
after(() => rm(directory, { recursive: true, force: true }));

/** Profiles outside the sandbox refuse the people of the samples. */
function ofNoSample(line: string): string {
  return line.replaceAll('Casey', 'Robin').replaceAll('Sample', 'Vale');
}

function issuedLine(index: number): string {
  return ofNoSample(jsonlLine(index)).replace('"ssn":"9', '"ssn":"8');
}

/** A profile, a stricter profile, and a row that only the first accepts. */
const PAIRS: [SendingProfile, SendingProfile, string][] = [
  [WIDE, NARROW, jointLine(1)],
  [SENDS_ALL, SENDS_NONE_WITH_NINE, ofNoSample(jsonlLine(1))],
  [WIDE, { ...WIDE, accents: 'refuse' }, jsonlLine(1).replace('Street', 'Stréet')],
];

function activitiesOf(profile: SendingProfile) {
  const profiles = new Map([['default', profile]]);
  const dependencies = { config: { profiles, portfolioDirectory: directory } } as unknown as ActivityDependencies;
  return createPortfolioActivities(dependencies);
}

function inActivity<T>(body: () => Promise<T>, onHeartbeat = () => {}): Promise<T> {
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  environment.on('heartbeat', onHeartbeat);
  return environment.run(body) as Promise<T>;
}

function examinedBy(profile: SendingProfile, file: string): Promise<ExaminedFile> {
  const input = { reviewId: 'R-1', endUserCode: 'EU123', permissiblePurposeCode: '01', file };
  return inActivity(() => activitiesOf(profile).examinePortfolio({ input }));
}

async function idsReadBy(profile: SendingProfile, { known, first }: ExaminedFile): Promise<string[]> {
  const { readPortfolioRows, readPortfolioRowsAt } = activitiesOf(profile);
  const { rows } = await inActivity(() => readPortfolioRows({ known, from: first, limit: 10 }));
  const again = await inActivity(() => readPortfolioRowsAt({ known, places: rows }));
  assert.deepEqual(again.rows, rows, 'a row that was begun is found at its place');
  return rows.map(({ accountId }) => accountId);
}

function fileOf(...lines: string[]): Promise<string> {
  return writePortfolio(directory, `p${count++}.jsonl`, lines.map((line) => `${line}\n`).join(''));
}

test('a worker with stricter limits reads each row that was counted, also a row that was begun', async () => {
  for (const [wide, narrow, line] of PAIRS) {
    const examined = await examinedBy(wide, await fileOf(issuedLine(0), line, issuedLine(2)));
    assert.equal(examined.rows, 3);
    assert.deepEqual(await idsReadBy(narrow, examined), ['ACC-0', 'ACC-1', 'ACC-2']);
  }
});

test('a worker with wider limits sends no row that was reported as bad', async () => {
  for (const [wide, narrow, line] of PAIRS) {
    const examined = await examinedBy(narrow, await fileOf(issuedLine(0), line, issuedLine(2)));
    assert.deepEqual([examined.rows, examined.badRows, examined.known.badLines], [2, 1, [2]]);
    assert.deepEqual(await idsReadBy(wide, examined), ['ACC-0', 'ACC-2']);
  }
});

test('a row that a worker cannot read is left to another worker, unless the file has changed', async () => {
  const file = await fileOf(issuedLine(0), '{"accountId":', issuedLine(2));
  const examined = await examinedBy(WIDE, file);
  // Acts as a worker whose rules accepted the second line as a row.
  const known = { ...examined.known, badLines: [] };
  const { readPortfolioRows, readPortfolioRowsAt } = activitiesOf(WIDE);
  const places = [{ accountId: 'ACC-1', offset: Buffer.byteLength(issuedLine(0)) + 1, line: 2 }];
  const readings = [
    () => readPortfolioRows({ known, from: examined.first, limit: 10 }),
    () => readPortfolioRowsAt({ known, places }),
  ];
  const repeated = { type: 'PortfolioUnavailable', nonRetryable: false, details: [{ code: 'ROW' }] };
  for (const read of readings) await assert.rejects(inActivity(read), repeated);
  await writePortfolio(directory, file, [issuedLine(0), '{"accountId"!', issuedLine(2), ''].join('\n'));
  for (const read of readings) await assert.rejects(inActivity(read), { type: 'PortfolioChanged', nonRetryable: true });
});

test('a review that has begun waits if a directory, or a link out of the folder, takes the place of its file', async () => {
  await mkdir(join(directory, FOLDER, 'sub'), { recursive: true });
  const file = await writePortfolio(directory, 'sub/place.jsonl', `${issuedLine(0)}\n`);
  const { known, first } = await examinedBy(WIDE, file);
  const { readPortfolioRows, readPortfolioRowsAt, writePortfolioResults, finishPortfolioResults } = activitiesOf(WIDE);
  const output = { reviewId: 'R-1', folder: known.folder, file, size: 0 };
  const readings: (() => Promise<unknown>)[] = [
    () => readPortfolioRows({ known, from: first, limit: 10 }),
    () => readPortfolioRowsAt({ known, places: [] }),
  ];
  const writings = [() => writePortfolioResults({ ...output, results: [] }), () => finishPortfolioResults(output)];
  const repeated = { type: 'PortfolioUnavailable', nonRetryable: false, details: [{ code: 'PLACE' }] };
  const path = join(directory, FOLDER, file);
  await rename(path, `${path}.away`);
  await mkdir(path);
  for (const read of readings) await assert.rejects(inActivity(read), repeated);
  await rm(path, { recursive: true });
  await rename(`${path}.away`, path);
  const folder = join(directory, FOLDER, 'sub');
  await rename(folder, join(directory, 'sub-away'));
  await symlink(join(directory, 'sub-away'), folder);
  for (const call of [...readings, ...writings]) await assert.rejects(inActivity(call), repeated);
  await rm(folder);
  await rename(join(directory, 'sub-away'), folder);
  for (const call of [...readings, ...writings]) await inActivity(call);
});

test('a worker that passes over a line of any length keeps reporting, so that it is not taken for dead', async () => {
  const { known, first } = await examinedBy(WIDE, await fileOf('x'.repeat(1_000_000), issuedLine(1)));
  let heartbeats = 0;
  const read = () => activitiesOf(WIDE).readPortfolioRows({ known, from: first, limit: 10 });
  const { rows } = await inActivity(read, () => heartbeats++);
  assert.deepEqual([rows.length, heartbeats > 10], [1, true]);
});
