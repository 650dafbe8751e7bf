/**
 * Draws answers of any mix of entries, codes and echoes, whose true owners are known. Either each applicant's outcome is
 * what the interface's text says (2.4, 2.8, 7.2), or the answer is held; no report and no `consumerId` is lost.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AnswerContext } from '../../src/gateway/answers.ts';
import type { Applicant } from '../../src/model/applicant.ts';
import type { Answer, Outcome } from '../../src/model/inquiry.ts';
import { applicant, TRACE_NUMBER } from './fixtures.ts';
import { contextOf, failsafeContext, read } from './reading-answers.ts';

const PEOPLE: readonly Applicant[] = [
  { applicantId: '1A', ssn: '912340001', dob: '1980-02-29', names: [{ first: 'Ada', last: 'Lind' }] },
  { applicantId: '2A', ssn: '912350002', dob: '1991-05-06', names: [{ first: 'Ben', last: 'Ota' }] },
  { applicantId: '3A', ssn: '912360003', dob: '1975-11-12', names: [{ first: 'Eva', last: 'Roy' }] },
].map((person) => applicant(person));

/** The profile's table maps `Exempt` but not `Suppress` (7.3). */
const MAPPED = { returnCodes: { PREQUAL: { Exempt: 'noReport' }, FAILSAFE: { Exempt: 'noReport' } } } as const;
const OUTCOMES: Record<string, Outcome['outcome']> = { Record: 'record', 'No Record': 'noRecord', Exempt: 'noReport' };

const code = fc.oneof(
  { weight: 5, arbitrary: fc.constant(undefined) },
  { weight: 5, arbitrary: fc.constantFrom('Record', 'No Record', 'Exempt') },
  { weight: 1, arbitrary: fc.constantFrom('Suppress', 'Error', '') },
);

const ANOTHER = TRACE_NUMBER.replace('ABC', 'CBA');
const echo = fc.oneof(
  { weight: 9, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, unknown>>(
      { customerTraceNumber: TRACE_NUMBER },
      { customerTraceNumber: ANOTHER },
      { customerTraceNumber: '0000012345' },
      { productCode: 'FS' },
      { productCode: 'CR' },
      { customerId: 'HOUSE0001' },
      { customerId: 'ANOTHERHOUSE' },
    ),
  },
);

const CONSUMERS = {
  none: () => ({}),
  empty: () => ({ consumer: { names: [], ssn: '' } }),
  whole: ({ names, dob, ssn }) => ({ consumer: { names, dob, ssn, accounts: [{ balance: '1' }] } }),
  withoutSsn: ({ names, dob }) => ({ consumer: { names, dob, accounts: [] } }),
  unreadable: () => ({ consumer: 'SEE ATTACHMENT' }),
} satisfies Record<string, (owner: Applicant) => object>;

const NAMED = {
  byId: ({ applicantId }) => ({ applicantId }),
  bySsn: ({ ssn }) => ({ ssn }),
  byNothing: () => ({}),
  // FAILSAFE's ids were never sent (4.3): the gateway may number the applicants in another order than the caller.
  byGatewaysOwnId: (_owner, { isFailsafe, index }) =>
    isFailsafe ? { applicantId: PEOPLE[(index + 1) % PEOPLE.length]?.applicantId } : {},
} satisfies Record<string, (owner: Applicant, place: { isFailsafe: boolean; index: number }) => object>;

const drawnEntry = fc.record({
  named: fc.constantFrom(...(Object.keys(NAMED) as (keyof typeof NAMED)[])),
  consumer: fc.constantFrom(...(['none', 'whole', ...Object.keys(CONSUMERS)] as (keyof typeof CONSUMERS)[])),
  hasConsumerId: fc.boolean(),
  /** The entry has the contents that its code requires. */
  isCoherent: fc.boolean(),
  code,
  echo,
});

/** Draws answers that mostly follow the text: otherwise nearly every answer would be a hold. */
const drawnAnswer = fc
  .record({
    product: fc.constantFrom('PREQUAL' as const, 'FAILSAFE' as const),
    entries: fc.array(drawnEntry, { minLength: 1, maxLength: 3 }),
    order: fc.array(fc.nat(), { minLength: 3, maxLength: 3 }),
    codes: fc.constantFrom('at the top', 'in the entries', 'anywhere'),
    code,
    echo,
  })
  .map(({ codes, ...drawn }) => {
    const code = codes === 'in the entries' ? undefined : drawn.code;
    const entries = drawn.entries.map((entry) => {
      const own = codes === 'at the top' ? undefined : entry.code;
      const isRecord = (own || code) === 'Record';
      const coherent = { consumer: isRecord ? ('whole' as const) : ('none' as const), hasConsumerId: isRecord };
      return { ...entry, code: own, ...(entry.isCoherent ? coherent : {}) };
    });
    return { ...drawn, code, entries };
  });

type Drawn = typeof drawnAnswer extends fc.Arbitrary<infer T> ? T : never;

function contextFor({ product, entries }: Drawn): AnswerContext {
  const asked = PEOPLE.slice(0, entries.length);
  return product === 'FAILSAFE' ? failsafeContext(asked, MAPPED) : contextOf(asked, MAPPED);
}

interface OwnedEntry {
  owner: Applicant;
  drawn: Drawn['entries'][number];
  consumerId: string | undefined;
  entry: Record<string, unknown>;
}

function entriesOf({ product, entries, order }: Drawn): OwnedEntry[] {
  const owned = entries.map((drawn, index): OwnedEntry => {
    const owner = PEOPLE[index] ?? assert.fail();
    const consumerId = drawn.hasConsumerId ? `C-${owner.applicantId}` : undefined;
    const place = { isFailsafe: product === 'FAILSAFE', index };
    const parts = { ...NAMED[drawn.named](owner, place), ...CONSUMERS[drawn.consumer](owner) };
    return { owner, drawn, consumerId, entry: { ...parts, consumerId, returnCode: drawn.code, ...drawn.echo } };
  });
  return owned.toSorted((one, other) => (order[owned.indexOf(one)] ?? 0) - (order[owned.indexOf(other)] ?? 0));
}

function answered(drawn: Drawn): { answer: Answer; entries: OwnedEntry[] } {
  const entries = entriesOf(drawn);
  const list = drawn.product === 'FAILSAFE' ? 'consumers' : 'applicants';
  const body = {
    ...{ returnCode: drawn.code, reportReferenceNumber: 'RRN-1', ...drawn.echo },
    [list]: entries.map(({ entry }) => entry),
  };
  return { answer: read(body, contextFor(drawn)), entries };
}

function hasReport({ drawn }: OwnedEntry): boolean {
  return drawn.consumer !== 'none' && drawn.consumer !== 'empty';
}

/** Returns the outcome that the text gives a single entry, or `undefined` if it gives none. */
function outcomeByText(one: OwnedEntry, { code: top, product }: Drawn): Outcome['outcome'] | undefined {
  const outcome = OUTCOMES[one.drawn.code || top || ''];
  if (outcome !== 'record') return hasReport(one) ? undefined : outcome;
  const isRecord = product === 'FAILSAFE' || one.drawn.consumer === 'whole' || one.drawn.consumer === 'withoutSsn';
  return isRecord && one.consumerId !== undefined ? 'record' : undefined;
}

/** Detects an empty entry of a joint record. Its reading is not in the text, so the answer has a remark. */
function isEmptyBesideRecord(one: OwnedEntry, all: readonly OwnedEntry[], drawn: Drawn): boolean {
  const isEmpty = one.drawn.consumer === 'none' && one.consumerId === undefined && !one.drawn.code;
  const hasRecord = all.some((other) => outcomeByText(other, drawn) === 'record');
  return drawn.product === 'PREQUAL' && drawn.code === 'Record' && isEmpty && hasRecord;
}

function outcomeFor(answer: Outcome, applicantId: string): Outcome['outcome'] {
  const own = answer.applicants?.find((one) => one.applicantId === applicantId);
  return own?.outcome ?? answer.outcome;
}

test('for any mix of entries and codes each outcome follows the interface, or the answer is held', () => {
  const counts = { outcome: 0, joint: 0, asked: 0 };
  fc.assert(
    fc.property(drawnAnswer, (drawn) => {
      const { answer, entries } = answered(drawn);
      if (answer.kind !== 'outcome') {
        counts.asked += 1;
        return;
      }
      counts.outcome += 1;
      counts.joint += entries.length > 1 ? 1 : 0;
      for (const one of entries) {
        const said = isEmptyBesideRecord(one, entries, drawn) ? 'noRecord' : outcomeByText(one, drawn);
        assert.equal(outcomeFor(answer, one.owner.applicantId), said, one.owner.applicantId);
      }
      const readings = (answer.remarks ?? []).filter(({ rule }) => rule.startsWith('is empty'));
      assert.equal(readings.length, entries.filter((one) => isEmptyBesideRecord(one, entries, drawn)).length);
    }),
    { numRuns: 5_000 },
  );
  assert.ok(counts.outcome > 500 && counts.joint > 100 && counts.asked > 500, JSON.stringify(counts));
});

test('for any mix of entries no report or consumerId is lost or given to another applicant', () => {
  const counts = { reports: 0, unattributed: 0 };
  fc.assert(
    fc.property(drawnAnswer, (drawn) => {
      const { answer, entries } = answered(drawn);
      // The answer is held, and the ledger keeps the whole answer sealed.
      if (answer.kind !== 'outcome') return;
      const attributed = [...(answer.reference?.applicants ?? []), ...(answer.applicants ?? [])];
      const unattributed = (answer.unattributed ?? []).map(({ consumerId }) => consumerId);
      counts.unattributed += unattributed.length;
      for (const one of entries) {
        const { applicantId } = one.owner;
        if (hasReport(one)) {
          counts.reports += 1;
          assert.equal(outcomeFor(answer, applicantId), 'record', 'a report under a code without a record');
        }
        const holders = attributed.filter(
          ({ consumerId }) => consumerId !== undefined && consumerId === one.consumerId,
        );
        assert.ok(
          holders.every((holder) => holder.applicantId === applicantId),
          'given to another applicant',
        );
        if (one.consumerId !== undefined) {
          assert.ok(holders.length > 0 || unattributed.includes(one.consumerId), `${one.consumerId} is lost`);
        }
      }
    }),
    { numRuns: 5_000 },
  );
  assert.ok(counts.reports > 200 && counts.unattributed > 15, JSON.stringify(counts));
});

test('for any mix of echoes another request is a hold, and every other difference is a remark', () => {
  const counts = { foreign: 0, told: 0 };
  fc.assert(
    fc.property(drawnAnswer, (drawn) => {
      const { answer, entries } = answered(drawn);
      const list = drawn.product === 'FAILSAFE' ? 'consumers' : 'applicants';
      const places = [
        { path: '', echo: drawn.echo },
        ...entries.map((one, index) => ({ path: `/${list}/${index}`, echo: one.drawn.echo })),
      ];
      const isFailsafe = drawn.product === 'FAILSAFE';
      const echoes = places.flatMap(({ path, echo: given }) =>
        Object.entries(given).map(([name, value]) => ({ path: `${path}/${name}`, value })),
      );
      const foreign = ['CR', ANOTHER, ...(isFailsafe ? [] : ['0000012345', 'ANOTHERHOUSE'])];
      if (echoes.some(({ value }) => foreign.includes(String(value)))) {
        counts.foreign += 1;
        assert.equal(answer.kind, 'unexpectedResponse');
        return;
      }
      if (answer.kind !== 'outcome') return;
      const differing = echoes.filter(({ value }) => ['FS', '0000012345'].includes(String(value)));
      counts.told += differing.length;
      const told = (answer.remarks ?? []).filter(({ rule }) => rule === 'is not that of the request');
      assert.deepEqual(told.map(({ path }) => path).sort(), differing.map(({ path }) => path).sort());
    }),
    { numRuns: 5_000 },
  );
  assert.ok(counts.foreign > 200 && counts.told > 15, JSON.stringify(counts));
});
