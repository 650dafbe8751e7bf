import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { after, before, test } from 'node:test';
import { claimOf, outcomeOf, RECORD, TRACE } from '../ledger/fixtures.ts';
import { type LedgerStage, openLedgerStage } from './command-stage.ts';

const REFUSED = 'PQBBBBBBBBBBBBBBBBBBBBBBBB00';

let stage: LedgerStage;

/** Fills the ledger with a report and a refusal. */
before(async () => {
  stage = await openLedgerStage(async (ledger) => {
    await ledger.claim(claimOf(ledger));
    await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }), '{"returnCode":"Record"}');
    await ledger.claim(claimOf(ledger, { inquiry: { customerTraceNumber: REFUSED, runKey: 'J-2' } }));
    const of = { customerTraceNumber: REFUSED, attempt: 1 };
    const sealed = await ledger.sealRefusal(of, { text: '{"problems":["/applicants/0/ssn"]}', isWhole: true });
    const refused = outcomeOf(ledger, { ...of, state: 'refused', failureType: 'RequestRefused', httpStatus: 422 });
    await ledger.recordOutcome(refused, undefined, sealed);
  });
});
after(() => stage?.close());

const cli = (...args: string[]) => stage.cli(...args);
const json = (...args: string[]) => stage.done(...args);

test('a report is reissued for a purpose to its own end user only, and each reading is listed', async () => {
  const look = await json('report', 'J-1', 'PREQUAL', '--reveal');
  assert.deepEqual([look.redacted, look.report], [false, { returnCode: 'Record' }]);
  const again = ['--reveal', '--purpose', 'adverse action letter', '--by', 'alice', '--end-user', 'EU1'];
  assert.deepEqual(await json('report', 'J-1', 'PREQUAL', ...again), look);
  const other = await cli('report', 'J-1', 'PREQUAL', '--purpose', 'another lender asks', '--end-user', 'EU2');
  assert.equal(other.code, 1);
  assert.match(other.stderr, /pulled for another end user: to give it to this one, share it/);
  assert.equal(other.stdout, '');
  const { data: accesses } = await json('accesses', '--customer-trace-number', TRACE);
  assert.deepEqual(
    accesses.map(({ by, purpose, endUserCode, via, kind }: Record<string, string>) => [
      by,
      purpose,
      endUserCode,
      via,
      kind,
    ]),
    [
      [userInfo().username, undefined, 'EU1', 'ledger', 'report'],
      ['alice', 'adverse action letter', 'EU1', 'ledger', 'report'],
    ],
  );
  const csv = await cli('accesses', '--format', 'csv', '--by', 'alice');
  assert.match(
    csv.stdout,
    /^recordedAt,kind,runKey,.*\r\n.*,report,J-1,.*,alice,ledger,adverse action letter,false,.*\r\n$/,
  );
});

test('a refusal’s body is shown for its attempt, and the reading is listed', async () => {
  const refusal = await json('refusal', REFUSED, '1', '--reveal', '--by', 'bob');
  const { storedAt: _at, ...shown } = refusal;
  assert.deepEqual(shown, {
    ...{ customerTraceNumber: REFUSED, attempt: 1, productCode: 'PREQUAL', httpStatus: 422, isWhole: true },
    ...{ redacted: false, body: { problems: ['/applicants/0/ssn'] } },
  });
  const { data: accesses } = await json('accesses', '--by', 'bob');
  assert.deepEqual([accesses.length, accesses[0].kind], [1, 'refusal']);
  const none = await cli('refusal', TRACE, '1');
  assert.equal(none.code, 1);
  assert.match(none.stderr, /keeps no body of such a refusal/);
});

test('a report is masked unless --reveal is given, and the ledger records which', async () => {
  const masked = await json('refusal', REFUSED, '1', '--by', 'eve');
  assert.equal(masked.redacted, true);
  const { data: accesses } = await json('accesses', '--by', 'eve');
  assert.equal(accesses[0].redacted, true);
});

test('the reading commands refuse invalid options without repeating their values', async () => {
  for (const [args, rule] of [
    [['report'], /missing required argument 'id'/],
    [['report', 'J-1'], /missing required argument 'productCode'/],
    [['report', 'J-1', '912345678'], /must be one of CR, .*<productCode>/],
    [['refusal', '912345678', '1'], /must be 28 .*<customerTraceNumber>/],
    [['refusal', REFUSED, '0'], /must be a whole number .*<attempt>/],
    [
      ['report', 'J-1', 'PREQUAL', '--purpose', `${'912345678 '.repeat(30)}`],
      /must have at most 200 characters.*--purpose/,
    ],
  ] as const) {
    const { code, stdout, stderr } = await cli(...args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, rule);
    assert.doesNotMatch(stdout + stderr, /912345678/);
  }
});
