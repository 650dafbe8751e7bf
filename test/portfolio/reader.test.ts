/** Reading, refusing and writing portfolio files, without Temporal. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { SendingProfile } from '../../src/gateway/sendable-applicants.ts';
import { toOutputNames, toPortfolioFolder } from '../../src/messages/portfolio/output-files.ts';
import type { RowResult } from '../../src/messages/portfolio/shapes.ts';
import { InvalidInputError } from '../../src/model/problems.ts';
import {
  type ExaminePortfolioOptions,
  examinePortfolio,
  findColumn,
  finishResults,
  openPortfolio,
  PortfolioChangedError,
  type PortfolioExamination,
  PortfolioUnavailableError,
  readRows,
  readRowsAt,
  requirePortfolio,
  requireUnchanged,
  resolveOutputPaths,
  writeResults,
} from '../../src/portfolio/portfolio-file.ts';
import { APPLICANT_MEMBERS } from '../support/applicant-members.ts';
import { csvText, FOLDER, formatCsvLine, HEADER, jsonlLine, writePortfolio } from '../support/portfolio-files.ts';

const PROFILE: SendingProfile = {
  environment: 'sandbox',
  ssnsWithNine: 'refuse',
  accents: 'refuse',
  limits: { maxApplicants: 2 },
};

let portfolios: string;
/** The end user's folder. */
let directory: string;
let count = 0;

before(async () => {
  portfolios = await mkdtemp(join(tmpdir(), 'credit-journey-reader-'));
  directory = join(portfolios, FOLDER);
  await mkdir(directory, { recursive: true });
});

after(() => rm(portfolios, { recursive: true, force: true }));

interface Examined extends PortfolioExamination {
  file: string;
  bad: { line: number; problems: { path: string; column?: string; rule: string }[] }[];
  /** The report as it was written. */
  badText: string;
}

async function examined(text: string | Buffer, options: Partial<ExaminePortfolioOptions> = {}): Promise<Examined> {
  const { format = 'csv' } = options;
  const file = await writePortfolio(portfolios, `p${count++}.${format}`, text);
  const badRowsPath = join(directory, `${file}.bad`);
  await using handle = await openPortfolio(directory, file);
  const onBlock = () => {};
  const found = await examinePortfolio(handle, {
    format,
    profile: PROFILE,
    maxBadRows: 10,
    badRowsPath,
    onBlock,
    ...options,
  });
  const badText = await readFile(badRowsPath, 'utf8').catch(() => '');
  const bad = badText.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Examined['bad'][number]]));
  return { ...found, file, bad, badText };
}

async function refusal(text: string | Buffer, options: Partial<ExaminePortfolioOptions> = {}): Promise<string> {
  try {
    await examined(text, options);
  } catch (error) {
    if (error instanceof InvalidInputError) return error.problems.map(({ path, rule }) => `${path} ${rule}`).join('; ');
    throw error;
  }
  throw new Error('it was not refused');
}

async function rowsOf({ file, columns, first, badLines }: Examined, format: 'csv' | 'jsonl' = 'csv', limit = 2) {
  await using handle = await openPortfolio(directory, file);
  const form = { format, badLines, ...(columns ? { columns } : {}) };
  const rows = [];
  for (let from: { offset: number; line: number } | undefined = first; from; ) {
    const read = await readRows(handle, form, { from, limit });
    rows.push(...read.rows);
    from = read.next;
  }
  // Each is found again by its place alone.
  assert.deepEqual(await readRowsAt(handle, form, rows), rows);
  return rows;
}

const idsOf = (rows: { accountId: string }[]) => rows.map(({ accountId }) => accountId);
const withLine = (line: string | Buffer) =>
  Buffer.concat([Buffer.from(csvText(2)), Buffer.from(line), Buffer.from(`\n${formatCsvLine(9)}\n`)]);

describe('a portfolio file', () => {
  test('has a column for each member of an applicant', () => {
    const missing = APPLICANT_MEMBERS.filter((pointer) => findColumn(`/applicants/0${pointer}`) === undefined);
    assert.deepEqual(missing, []);
  });

  test('is read in chunks, starting at any row', async () => {
    const found = await examined(csvText(5));
    assert.equal(found.rows, 5);
    assert.equal(found.badRows, 0);
    const rows = await rowsOf(found);
    assert.deepEqual(idsOf(rows), ['ACC-0', 'ACC-1', 'ACC-2', 'ACC-3', 'ACC-4']);
    assert.equal(rows[0]?.line, 2);
    assert.equal(rows[0]?.applicants[0]?.names[0]?.first, 'Casey');
    await assert.rejects(stat(join(directory, `${found.file}.bad`)));
  });

  test('may begin with a byte-order mark, and may end its lines with CR LF', async () => {
    const text = csvText(3).replaceAll('\n', '\r\n');
    for (const one of [Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]), Buffer.from(text)]) {
      const found = await examined(one);
      assert.equal(found.badRows, 0);
      assert.equal((await rowsOf(found)).length, 3);
    }
    const jsonl = Buffer.concat([
      Buffer.from([0xef, 0xbb, 0xbf]),
      Buffer.from(`${jsonlLine(1)}\r\n${jsonlLine(2)}\r\n`),
    ]);
    const found = await examined(jsonl, { format: 'jsonl' });
    assert.deepEqual(idsOf(await rowsOf(found, 'jsonl')), ['ACC-1', 'ACC-2']);
  });

  test('may quote its fields, with commas and quotation marks in them', async () => {
    const line = formatCsvLine(7).replace('12 Example Street', '"12 Example Street, rear"').replace('ACC-7', '"ACC-7"');
    const rows = await rowsOf(await examined(withLine(line)));
    assert.equal(rows[2]?.accountId, 'ACC-7');
    assert.equal(rows[2]?.applicants[0]?.addresses[0]?.line1, '12 Example Street, rear');
  });

  test('has joint applicants in JSONL', async () => {
    const row = JSON.parse(jsonlLine(1)) as { applicants: object[] };
    const second = { ...JSON.parse(jsonlLine(2)).applicants[0], applicantId: '2A' };
    row.applicants.push(second);
    const found = await examined(`${JSON.stringify(row)}\n`, { format: 'jsonl' });
    assert.equal((await rowsOf(found, 'jsonl'))[0]?.applicants.length, 2);
  });

  test('may have rows with test SSNs only in the sandbox', async () => {
    const profile: SendingProfile = { ...PROFILE, environment: 'uat', ssnsWithNine: 'itinOnly' };
    const text = csvText(3).replace(/,9\d{8},/, ',912700001,');
    const { rows, bad } = await examined(text, { profile });
    assert.equal(rows, 1);
    assert.deepEqual(
      bad.map(({ line, problems }) => [line, problems[0]?.path]),
      [
        [3, '/applicants/0/ssn'],
        [4, '/applicants/0/ssn'],
      ],
    );
  });

  test('has as bad rows those whose names or addresses the profile would not send', async () => {
    const named = (index: number, last: string) => jsonlLine(index).replace(/"last":"[^"]*"/, `"last":"${last}"`);
    const text = [jsonlLine(1), named(2, 'Muñoz'), named(3, 'ß'.repeat(20))].map((line) => `${line}\n`).join('');
    for (const [accents, lines, rule] of [
      ['refuse', [2, 3], /^must be printable ASCII, by the profile's setting accents/],
      ['transliterate', [3], /^must have at most 30 characters$/],
      ['pass', [], undefined],
    ] as const) {
      const { bad } = await examined(text, { format: 'jsonl', profile: { ...PROFILE, accents } });
      assert.deepEqual(
        bad.map(({ line }) => line),
        lines,
        accents,
      );
      for (const { problems } of bad) {
        assert.equal(problems[0]?.path, '/applicants/0/names/0/last');
        assert.match(problems[0]?.rule ?? '', rule ?? /never/);
      }
    }
  });

  test('is refused without a valid header, and the error does not quote the file', async () => {
    assert.match(await refusal(''), /^\/file is empty$/);
    assert.match(await refusal(HEADER), /header and no rows/);
    assert.match(await refusal(`${HEADER}\n`), /no row that could be sent/);
    assert.match(await refusal(csvText(2).replace('ssn,', '')), /^\/file lacks the column ssn in its header$/);
    assert.match(await refusal(csvText(2).replace('zip4', 'ssn')), /has the columns ssn more than once/);
    const extra = await refusal(csvText(2).replace('zip4', 'Casey'));
    assert.match(extra, /^\/file has columns that are not known, by their places in the header: 17$/);
    assert.match(await refusal(Buffer.from(csvText(2), 'utf16le')), /must be UTF-8|lacks the column/);
    assert.match(await refusal(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('x\n')])), /must be UTF-8/);
    assert.match(await refusal(`${'x'.repeat(1_000_000)}\n`), /too long/);
  });

  test('has each bad row reported by line, path and rule, never by value', async () => {
    const cases: [string | Buffer, { path: string; column?: string; rule: RegExp }][] = [
      [formatCsvLine(7).replace('62704', 'ABCDE'), { path: '/applicants/0/addresses/0/zip', column: 'zip', rule: /./ }],
      [formatCsvLine(7).replace('ACC-7', ''), { path: '/accountId', column: 'accountId', rule: /must be 1 to 64/ }],
      [formatCsvLine(7).replace('ACC-7', '900-12-3456'), { path: '/accountId', column: 'accountId', rule: /opaque/ }],
      [
        formatCsvLine(7).replace(',62704,', ''),
        { path: '', rule: /must have 17 fields, as the header has; it has 15/ },
      ],
      [`${formatCsvLine(7)},more`, { path: '', rule: /it has 18/ }],
      [formatCsvLine(7).replace('Casey', '"Casey'), { path: '', rule: /quotation mark/ }],
      [formatCsvLine(7).replace('Casey', 'Ca"sey'), { path: '', rule: /quotation mark/ }],
      [formatCsvLine(7).replace('Casey', 'x'.repeat(1_000_000)), { path: '', rule: /longer than 65536 bytes/ }],
      [Buffer.from(formatCsvLine(7).replace('Casey', 'Caf\u00e9'), 'latin1'), { path: '', rule: /must be UTF-8/ }],
    ];
    for (const [line, expected] of cases) {
      const found = await examined(withLine(line));
      assert.deepEqual(idsOf(await rowsOf(found)), ['ACC-0', 'ACC-1', 'ACC-9'], String(expected.rule));
      assert.equal(found.rows, 3);
      assert.equal(found.badRows, 1);
      const [bad] = found.bad;
      assert.equal(bad?.line, 4);
      assert.equal(bad?.problems[0]?.path, expected.path);
      assert.equal(bad?.problems[0]?.column, expected.column);
      assert.match(bad?.problems[0]?.rule ?? '', expected.rule);
      for (const value of ['Casey', '9007', 'ABCDE', '900-12', 'xxxx']) assert.ok(!found.badText.includes(value));
    }
  });

  test('has its bad JSONL rows reported in the same way', async () => {
    const joint = JSON.stringify({ ...JSON.parse(jsonlLine(7)), more: 1 });
    for (const [line, rule] of [
      ['{"accountId":', /must be a JSON object/],
      ['[]', /must be a JSON object/],
      [joint, /unknown members/],
      [jsonlLine(7).replace('{"accountId":"ACC-7"', '{"accountId":"ACC-8","accountId":"ACC-7"'), /accountId twice/],
      ['{"accountId":"ACC-7","applicants":[]}', /./],
      [jsonlLine(7).replace('"accountId":"ACC-7",', ''), /is required/],
      [jsonlLine(7).replace('Casey', 'x'.repeat(1_000_000)), /longer than 65536 bytes/],
      [jsonlLine(7).replace('Casey', 'x'.repeat(10_000)), /must have at most \d+ characters/],
    ] as const) {
      const found = await examined(`${jsonlLine(1)}\n${line}\n${jsonlLine(2)}\n`, { format: 'jsonl' });
      assert.deepEqual(idsOf(await rowsOf(found, 'jsonl')), ['ACC-1', 'ACC-2']);
      assert.match(found.bad[0]?.problems[0]?.rule ?? '', rule);
      assert.equal(found.bad[0]?.line, 2);
    }
  });

  test('has no row sent if its id occurs twice', async () => {
    const found = await examined(`${csvText(3)}${formatCsvLine(1, '0404')}\n${formatCsvLine(1)}\n`);
    assert.equal(found.rows, 2);
    assert.equal(found.badRows, 3);
    assert.deepEqual(found.badLines, [3, 5, 6]);
    assert.deepEqual(idsOf(await rowsOf(found)), ['ACC-0', 'ACC-2']);
    assert.match(found.bad[0]?.problems[0]?.rule ?? '', /is also that of line 5/);
  });

  test('does not have its last row sent if the line end is missing', async () => {
    const found = await examined(csvText(3).slice(0, -1));
    assert.equal(found.rows, 2);
    assert.match(found.bad[0]?.problems[0]?.rule ?? '', /no line end/);
  });

  test('is refused with more bad rows than allowed, and the report of bad rows is kept', async () => {
    const text = `${csvText(2)}a,b\nc,d\n`;
    assert.match(await refusal(text, { maxBadRows: 1 }), /has 2 bad rows, more than the 1/);
    const report = await readFile(join(directory, `p${count - 1}.csv.bad`), 'utf8');
    assert.equal(report.split('\n').length - 1, 2);
    assert.equal((await stat(join(directory, `p${count - 1}.csv.bad`))).mode & 0o777, 0o600);
  });
});

describe('a portfolio file that has been examined', () => {
  const unchanged = async ({ file, mark, digest }: Examined, inFull = false) => {
    await using handle = await openPortfolio(directory, file);
    return await requireUnchanged(handle, { mark, digest }, { inFull, onBlock: () => {} });
  };

  test('is recognized, also if only its times have changed', async () => {
    const found = await examined(csvText(3));
    assert.deepEqual(await unchanged(found), found.mark);
    await utimes(join(directory, found.file), 1, 1);
    assert.notDeepEqual(await unchanged(found), found.mark);
    await unchanged(found, true);
  });

  test('is not recognized if it was changed, replaced or shortened', async () => {
    const text = csvText(3);
    const other = text.replace('Springfield', 'Shelbyville').replace('12 Example', '1 Example');
    for (const change of [
      (path: string) => writeFile(path, text.replace('Casey', 'Robin')),
      (path: string) => writeFile(path, text.slice(0, -20)),
      async (path: string) => {
        await writeFile(`${path}.new`, other);
        await rename(`${path}.new`, path);
      },
    ]) {
      const found = await examined(text);
      await change(join(directory, found.file));
      await assert.rejects(unchanged(found), PortfolioChangedError);
    }
  });

  test('refuses a row whose place has another account', async () => {
    const found = await examined(csvText(3));
    await using handle = await openPortfolio(directory, found.file);
    const form = { format: 'csv' as const, columns: found.columns ?? [], badLines: found.badLines };
    const [row] = (await readRows(handle, form, { from: found.first, limit: 1 })).rows;
    assert.ok(row);
    await assert.rejects(readRowsAt(handle, form, [{ ...row, accountId: 'ACC-2' }]), PortfolioChangedError);
  });
});

describe('the place of a portfolio file', () => {
  test('must be inside its directory, and a link out of it is refused', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'credit-journey-outside-'));
    await writeFile(join(outside, 'secret.csv'), csvText(1));
    await symlink(join(outside, 'secret.csv'), join(directory, 'link.csv'));
    await symlink(outside, join(directory, 'linked'));
    await mkdir(join(directory, 'folder.csv'));
    await promisify(execFile)('mkfifo', [join(directory, 'pipe.csv')]);
    for (const file of [
      '../secret.csv',
      '/etc/passwd',
      'a/../../x',
      '.hidden',
      'a//b',
      'linked/secret.csv',
      'folder.csv',
      'pipe.csv',
    ]) {
      await assert.rejects(openPortfolio(directory, file), InvalidInputError, file);
    }
    await assert.rejects(openPortfolio(directory, 'link.csv'), PortfolioUnavailableError);
    await assert.rejects(openPortfolio(directory, 'missing.csv'), PortfolioUnavailableError);
    await assert.rejects(resolveOutputPaths(directory, 'linked/x.csv', 'R-1'), InvalidInputError);
    // No file system could hold the results, and the review would wait for one that can.
    await assert.rejects(resolveOutputPaths(directory, 'x'.repeat(200), 'R'.repeat(36)), InvalidInputError);
    assert.ok(await resolveOutputPaths(directory, 'x'.repeat(200), 'R'.repeat(35)));
    await rm(outside, { recursive: true });
  });

  test('no two reviews of a folder write files of one name', async () => {
    const names = (letters: string, length = 4): string[] =>
      length === 0 ? [] : ['a', ...names(letters, length - 1).flatMap((name) => [...letters].map((one) => name + one))];
    const taken = new Map<string, string>();
    for (const file of names('a.')) {
      for (const id of names('a.~')) {
        for (const name of Object.values(toOutputNames(file, id))) {
          assert.equal(taken.get(name), undefined, `${name} of ${file} and ${id}`);
          taken.set(name, `${file} and ${id}`);
        }
      }
    }
    assert.equal(toOutputNames('a.csv', 'R-1').results, 'a.csv.R-1.results.jsonl');
    assert.equal(toOutputNames('a', 'b.R').results, 'a~b.R.results.jsonl');
  });

  test('is the folder of its end user; a file of another end user is reported like a missing file', async () => {
    const theirs = toPortfolioFolder({ endUserCode: 'EU456' });
    await writePortfolio(portfolios, 'theirs.csv', csvText(1), theirs);
    await writePortfolio(portfolios, 'ours.csv', csvText(1));
    await symlink(join(portfolios, theirs), join(directory, 'way'));
    const ruleFor = async (folder: string, file: string) => {
      try {
        await requirePortfolio(portfolios, folder, file);
        return null;
      } catch (error) {
        assert.ok(error instanceof InvalidInputError, String(error));
        return error.problems;
      }
    };
    assert.equal(await ruleFor(FOLDER, 'ours.csv'), null);
    const missing = await ruleFor(FOLDER, 'missing.csv');
    assert.deepEqual(missing, [{ path: '/file', rule: 'must name a file in the end user’s folder of PORTFOLIO_DIR' }]);
    assert.deepEqual(await ruleFor(FOLDER, 'theirs.csv'), missing);
    assert.deepEqual(await ruleFor('default/EU789', 'ours.csv'), missing);
    for (const file of ['way/theirs.csv', '../EU456/theirs.csv']) assert.ok(await ruleFor(FOLDER, file), file);
    // A directory that is missing is awaited.
    const away = join(portfolios, 'away');
    await assert.rejects(requirePortfolio(away, FOLDER, 'ours.csv'), PortfolioUnavailableError);
  });
});

describe('the result file', () => {
  const result = (accountId: string, outcome: RowResult['outcome'] = 'record'): RowResult => ({
    ...{ accountId, line: 2, outcome, customerTraceNumber: 'AR', at: '2026-01-05T10:00:00Z' },
  });
  const newOutputs = async () =>
    resolveOutputPaths(directory, await writePortfolio(portfolios, `p${count++}.csv`, ''), 'r1');
  const accountsIn = async (path: string) =>
    (await readFile(path, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as RowResult)
      .map(({ accountId, outcome }) => `${accountId} ${outcome}`);

  test('is written again without duplicates after a retry, and gets its final name at the end', async () => {
    const outputs = await newOutputs();
    await writeResults(outputs, 0, [result('A-1')]);
    const first = await writeResults(outputs, 0, [result('A-1'), result('A-2')]);
    const second = await writeResults(outputs, first, [result('A-3')]);
    // Left by a run that was reset.
    await writeResults(outputs, second, [result('A-9')]);
    await assert.rejects(stat(outputs.results));
    await finishResults(outputs, second);
    await finishResults(outputs, second);
    assert.deepEqual(await accountsIn(outputs.results), ['A-1 record', 'A-2 record', 'A-3 record']);
    assert.equal((await stat(outputs.results)).mode & 0o777, 0o600);
    await assert.rejects(stat(outputs.unfinished));
  });

  test('is empty for a review without results', async () => {
    const outputs = await newOutputs();
    for (let calls = 0; calls < 2; calls++) await finishResults(outputs, 0);
    assert.equal((await stat(outputs.results)).size, 0);
  });

  test('keeps the earlier rows when a review is reset after its end', async () => {
    const outputs = await newOutputs();
    const two = await writeResults(outputs, 0, [result('A-1'), result('A-2')]);
    await finishResults(outputs, await writeResults(outputs, two, [result('A-3')]));
    // Left by a worker that died.
    await writeFile(outputs.unfinished, '{"accou');
    const size = await writeResults(outputs, two, [result('A-3', 'abandoned')]);
    await finishResults(outputs, size);
    assert.deepEqual(await accountsIn(outputs.results), ['A-1 record', 'A-2 record', 'A-3 abandoned']);
    await assert.rejects(stat(outputs.unfinished));
  });

  test('is not taken as written if its disk had room for a part of the results only', async () => {
    const outputs = await newOutputs();
    const results = Array.from({ length: 100 }, (_, index) => result(`A-${index}`));
    const files = new URL('../../src/portfolio/portfolio-file.ts', import.meta.url).href;
    const call = `writeResults(${JSON.stringify(outputs)}, 0, ${JSON.stringify(results)})`;
    const script = `import { writeResults } from '${files}'; await ${call}.catch(({ code }) => console.log(code));`;
    // The limit of a process on the size of files acts like a full disk: the first write is short, and no error.
    const limited = ['-c', 'ulimit -f 4; exec "$0" --input-type=module -e "$1"', process.execPath, script];
    assert.equal((await promisify(execFile)('sh', limited)).stdout, 'EFBIG\n');
    await finishResults(outputs, await writeResults(outputs, 0, results));
    assert.equal((await accountsIn(outputs.results)).length, 100);
  });

  test('is awaited if this worker does not find the earlier results', async () => {
    const outputs = await newOutputs();
    const lacking = { name: 'PortfolioUnavailableError', code: 'RESULTS' };
    await assert.rejects(writeResults(outputs, 7, [result('A-1')]), lacking);
    await assert.rejects(finishResults(outputs, 7), lacking);
    await assert.rejects(stat(outputs.results));
  });
});
