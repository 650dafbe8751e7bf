/** Compares every combination of code and contents of an entry (interface 2.4, 2.8) with the table of meanings. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  CODE_MEANINGS,
  type CodeMeaning,
  ENTRY_CONTENTS,
  type EntryContents,
  type EntryMeaning,
  FAILSAFE_ENTRIES,
  REPORT_ENTRIES,
} from '../../src/gateway/entry-meanings.ts';
import type { Answer } from '../../src/model/inquiry.ts';
import { recordBody } from './fixtures.ts';
import { ADA, BEN, contextOf, failsafeContext, read } from './reading-answers.ts';

const MAPPED = { returnCodes: { PREQUAL: { Exempt: 'noReport' }, FAILSAFE: { Exempt: 'noReport' } } } as const;
const [{ consumer: OF_ADA }, { consumer: OF_BEN }] = JSON.parse(recordBody([ADA, BEN])).applicants;

/** The members of the first applicant's entry. */
const MEMBERS: Record<EntryContents, object> = {
  nothing: {},
  consumerId: { consumerId: 'C-ADA' },
  emptyConsumer: { consumerId: 'C-ADA', consumer: { names: [], accounts: [] } },
  report: { consumer: OF_ADA },
  consumerIdAndReport: { consumerId: 'C-ADA', consumer: OF_ADA },
};

const CODES: Record<CodeMeaning, { own?: string; top?: string }> = {
  ownRecord: { own: 'Record' },
  topRecord: { top: 'Record' },
  noRecord: { own: 'No Record' },
  noReport: { own: 'Exempt' },
};

/** Reads an answer with Ada's entry beside an entry of Ben that has a record. */
function besideRecord(code: CodeMeaning, contents: EntryContents, isFailsafe: boolean): Answer {
  const { own, top } = CODES[code];
  const ada = { ssn: ADA.ssn, ...MEMBERS[contents], ...(own && { returnCode: own }) };
  const report = isFailsafe ? {} : { consumer: OF_BEN };
  const ben = { ssn: BEN.ssn, consumerId: 'C-BEN', ...report, ...(top ? {} : { returnCode: 'Record' }) };
  const body = { ...(top && { returnCode: top }), reportReferenceNumber: 'RRN-1', applicants: [ada, ben] };
  const context = isFailsafe ? failsafeContext([ADA, BEN], MAPPED) : contextOf([ADA, BEN], MAPPED);
  return read(body, context);
}

for (const [name, table] of Object.entries({ report: REPORT_ENTRIES, FAILSAFE: FAILSAFE_ENTRIES })) {
  for (const code of CODE_MEANINGS) {
    for (const contents of ENTRY_CONTENTS) {
      const meaning = table[code][contents];
      test(`2.4, 2.8: an entry of a ${name} with ${contents} under ${code} means ${meaning}`, () => {
        const answer = besideRecord(code, contents, name === 'FAILSAFE');
        if (meaning === 'hold') {
          assert.ok(answer.kind === 'unexpectedResponse', JSON.stringify(answer));
          assert.match(answer.problems.join(), /^\/applicants\/0\/consumer/);
          return;
        }
        assert.ok(answer.kind === 'outcome', JSON.stringify(answer));
        const ofAda = answer.applicants?.find(({ applicantId }) => applicantId === '1A')?.outcome ?? answer.outcome;
        const isRead = meaning === 'noRecordBesideRecord';
        assert.equal(ofAda, isRead ? 'noRecord' : meaning);
        const told = answer.remarks?.some(({ path, rule }) => path === '/applicants/0' && rule.startsWith('is empty'));
        assert.equal(told ?? false, isRead, 'a reading that is ours is told');
      });
    }
  }
}

test('2.4: a joint record with only empty entries is held for every product', () => {
  const body = {
    returnCode: 'Record',
    reportReferenceNumber: 'RRN-1',
    applicants: [{ ssn: ADA.ssn }, { ssn: BEN.ssn }],
  };
  assert.equal(read(body, contextOf([ADA, BEN])).kind, 'unexpectedResponse');
  assert.equal(read(body, failsafeContext([ADA, BEN])).kind, 'unexpectedResponse');
});

const WORDS: Record<EntryMeaning, string> = {
  record: '`record`',
  noRecord: '`noRecord`',
  noReport: '`noReport`',
  hold: 'hold',
  noRecordBesideRecord: '`noRecord` beside a record, with a remark; else hold',
};

const ROWS: Record<EntryContents, string> = {
  nothing: 'neither `consumerId` nor `consumer`',
  consumerId: '`consumerId` alone',
  emptyConsumer: 'a `consumer` with nothing in it',
  report: 'a `consumer` without `consumerId`',
  consumerIdAndReport: '`consumerId` and `consumer`',
};

test('docs/protocol.md has the same tables as the code', () => {
  const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');
  for (const table of [REPORT_ENTRIES, FAILSAFE_ENTRIES]) {
    for (const contents of ENTRY_CONTENTS) {
      const cells = CODE_MEANINGS.map((code) => WORDS[table[code][contents]]);
      const line = `| ${[ROWS[contents], ...cells].join(' | ')} |\n`;
      assert.ok(page.includes(line), line);
    }
  }
});
