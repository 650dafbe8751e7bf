/**
 * The table of meanings of an answer's entries for their applicants, by code and content (interface 2.4, 2.8).
 * docs/protocol.md prints it, and its test compares every combination.
 */
import { isRecord } from '../base/is-record.ts';
import { type JsonObject, member } from '../base/json-safety.ts';
import type { Problem } from '../model/problems.ts';
import type { ProductCode } from '../model/products.ts';
import type { ReportOutcome } from '../model/report-outcome.ts';

/** `ownRecord`: the entry's own code means a record. `topRecord`: it has none, and the code of the whole answer does. */
export const CODE_MEANINGS = ['ownRecord', 'topRecord', 'noRecord', 'noReport'] as const;
export type CodeMeaning = (typeof CODE_MEANINGS)[number];

export const ENTRY_CONTENTS = ['nothing', 'consumerId', 'emptyConsumer', 'report', 'consumerIdAndReport'] as const;
export type EntryContents = (typeof ENTRY_CONTENTS)[number];

/**
 * `hold`: a person decides. `noRecordBesideRecord`: `noRecord` where another entry has a record, and a remark says why;
 * otherwise a hold.
 */
export type EntryMeaning = ReportOutcome | 'hold' | 'noRecordBesideRecord';

type MeaningTable = Readonly<Record<CodeMeaning, Readonly<Record<EntryContents, EntryMeaning>>>>;

/** Meanings of an entry without a record. If a report comes all the same, an operator decides. */
function withoutRecord<O extends ReportOutcome>(outcome: O) {
  return { nothing: outcome, consumerId: outcome, emptyConsumer: outcome, ...REPORTS_HELD };
}

const REPORTS_HELD = { report: 'hold', consumerIdAndReport: 'hold' } as const;
const NOTHING_KNOWN = { nothing: 'hold', consumerId: 'hold', emptyConsumer: 'hold', report: 'hold' } as const;

/**
 * Table for the products of interface 2.4. A record is a `consumerId` and a report. A joint application has one
 * `returnCode`, so only an empty entry can say that one applicant of two has no record.
 */
export const REPORT_ENTRIES: MeaningTable = {
  ownRecord: { ...NOTHING_KNOWN, consumerIdAndReport: 'record' },
  topRecord: { ...NOTHING_KNOWN, nothing: 'noRecordBesideRecord', consumerIdAndReport: 'record' },
  noRecord: withoutRecord('noRecord'),
  noReport: withoutRecord('noReport'),
};

/** Table for FAILSAFE, whose entries have a code and a `consumerId` each, and no report (interface 2.8). */
export const FAILSAFE_ENTRIES: MeaningTable = {
  ownRecord: { ...NOTHING_KNOWN, consumerId: 'record', consumerIdAndReport: 'record' },
  topRecord: { ...NOTHING_KNOWN, consumerId: 'record', consumerIdAndReport: 'record' },
  noRecord: withoutRecord('noRecord'),
  noReport: withoutRecord('noReport'),
};

/** The code that applies to an entry. `isOwn`: it is the entry's, not that of the whole answer. */
interface EntryCode {
  outcome: ReportOutcome;
  isOwn: boolean;
}

/** An entry's outcome by the table, and whether an operator must decide all the same. */
export interface EntryReading {
  outcome: ReportOutcome;
  isHeld: boolean;
}

/**
 * Returns the outcome of each entry. SECONDUSE's answer is a confirmation only (interface 2.7), so its entries are not
 * judged.
 */
export function readEntries(
  entries: readonly JsonObject[],
  codes: readonly EntryCode[],
  { product, pathOf }: { product: ProductCode; pathOf: (index: number) => string },
): { entries: EntryReading[]; remarks: Problem[] } {
  if (product === 'SECONDUSE') {
    return { entries: codes.map(({ outcome }) => ({ outcome, isHeld: false })), remarks: [] };
  }
  const read = codes.map((code, index) => {
    const meaning = readEntryMeaning(entries[index] ?? {}, code, product);
    return { code, path: pathOf(index), meaning };
  });
  const hasRecord = read.some(({ meaning }) => meaning === 'record');
  const remarks: Problem[] = [];
  const readings = read.map(({ code, path, meaning }): EntryReading => {
    if (meaning !== 'noRecordBesideRecord') return { outcome: code.outcome, isHeld: meaning === 'hold' };
    if (!hasRecord) return { outcome: code.outcome, isHeld: true };
    remarks.push({ path, rule: 'is empty beside a record: read as no record of this applicant' });
    return { outcome: 'noRecord', isHeld: false };
  });
  return { entries: readings, remarks };
}

function readEntryMeaning(entry: JsonObject, { outcome, isOwn }: EntryCode, product: ProductCode): EntryMeaning {
  const table = product === 'FAILSAFE' ? FAILSAFE_ENTRIES : REPORT_ENTRIES;
  const record = isOwn ? 'ownRecord' : 'topRecord';
  return table[outcome === 'record' ? record : outcome][classifyContents(entry)];
}

function classifyContents(entry: JsonObject): EntryContents {
  const isNamed = isGiven(member(entry, 'consumerId'));
  if (hasReport(entry)) return isNamed ? 'consumerIdAndReport' : 'report';
  if (isGiven(member(entry, 'consumer'))) return 'emptyConsumer';
  return isNamed ? 'consumerId' : 'nothing';
}

/** Whether anything at all is in its `consumer`, also what the interface does not show. */
export function hasReport(object: JsonObject): boolean {
  const consumer = member(object, 'consumer');
  return isRecord(consumer) ? !Object.values(consumer).every(isEmpty) : !isEmpty(consumer);
}

/** A member with nothing in it says as little as one that is missing. */
export function isEmpty(value: unknown): boolean {
  return !isGiven(value) || (Array.isArray(value) && value.length === 0);
}

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
