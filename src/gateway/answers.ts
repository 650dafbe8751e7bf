/**
 * Reads an answer with a success status into the one normalized shape that leaves the gateway client. Tolerant of what
 * the protocol does not need (docs/decisions/gateway.md), strict where the promise needs it (section 4).
 */

import { type JsonObject, member } from '../base/json-safety.ts';
import { isAlphanumeric } from '../fields/alphanumeric.ts';
import { type Answer, type AnsweredApplicant, SSN_MISMATCH } from '../model/inquiry.ts';
import { type Problem, selectShownProblems } from '../model/problems.ts';
import { PRODUCTS, type ProductCode } from '../model/products.ts';
import type { ReportOutcome, ReportReference } from '../model/report-outcome.ts';
import { isTraceNumber } from '../model/trace-number.ts';
import { type EntryReading, hasReport, isGiven, readEntries } from './entry-meanings.ts';
import { type ResponseEnvelope, readResponseEnvelope } from './envelope.ts';
import type { GatewayProfile } from './profile.ts';
import type { GatewayRequest } from './requests.ts';
import { findConsumerProblems } from './responses.ts';
import { type ExpectedApplicant, type Match, matchEntries } from './who-is-who.ts';

export interface AnswerContext {
  profile: Pick<GatewayProfile, 'returnCodes' | 'ssnMismatch'>;
  request: GatewayRequest;
  /** Empty for SECONDUSE, whose answer is a confirmation only (interface 2.7). */
  expected: readonly ExpectedApplicant[];
  /** The instant just before the first byte of the request, RFC 3339. */
  requestedAt: string;
}

/** Operators see codes and histories keep them, so they must be printable, and too short for anything personal. */
const RETURN_CODE = /^[\x20-\x7e]{1,40}$/;

class AnswerProblems extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super('an answer of an unexpected shape');
    // Each of a million entries may have one. The server refuses a result of that size, and the run would never get it.
    this.problems = selectShownProblems(problems);
  }
}

/**
 * @param text the answer's body
 * @returns `null` where the text is not JSON: then the outcome of the request is unknown
 */
export function readAnswer(text: string, context: AnswerContext): Answer | null {
  const envelope = readResponseEnvelope(text);
  if (!envelope) return null;
  if ('problems' in envelope) return { kind: 'unexpectedResponse', problems: envelope.problems };
  try {
    return judge(envelope, context);
  } catch (error) {
    if (!(error instanceof AnswerProblems)) throw error;
    const shown = member(envelope.top, 'returnCode');
    const returnCode = typeof shown === 'string' && RETURN_CODE.test(shown) ? shown : undefined;
    return { kind: 'unexpectedResponse', problems: error.problems, ...(returnCode !== undefined && { returnCode }) };
  }
}

function judge(envelope: ResponseEnvelope, context: AnswerContext): Answer {
  const { request } = context;
  const echoes = compareEchoes(envelope, request);
  if (echoes.foreign.length > 0) throw new AnswerProblems(echoes.foreign);
  const codes = readReturnCodes(envelope, context);
  const reason = readReasonCode(envelope.top);
  if (codes.unknown !== undefined) return { kind: 'returnCodeUnknown', returnCode: codes.unknown, ...reason };
  const numbers = findReferenceNumbers(envelope);
  const isFailsafe = request.productCode === 'FAILSAFE';
  if (numbers.size > 1 && !isFailsafe) {
    throw new AnswerProblems(['/reportReferenceNumber must be the same in the whole answer']);
  }
  const { outcome, returnCode } = codes;
  const [number] = numbers;
  const isNumbered = outcome !== 'record' && numbers.size === 1;
  const remarks = selectShownProblems([...echoes.remarks, ...codes.remarks]);
  const details = {
    ...reason,
    ...(isNumbered && number && { noRecordReference: number }),
    ...(remarks.length > 0 && { remarks }),
  };

  if (request.productCode === 'SECONDUSE') {
    refuseForeignConsumers(envelope, context);
    const reference = toReference(numbers, context.requestedAt, []);
    // Interface 2.7: with the report's own number this is no confirmation of a posting.
    if (reference.reportReferenceNumber === request.reportReferenceNumber) {
      throw new AnswerProblems(["/reportReferenceNumber must differ from the shared report's"]);
    }
    return { kind: 'outcome', outcome, returnCode, ...details, reference };
  }
  if (outcome !== 'record' && hasReport(envelope.top)) throw new AnswerProblems([`/consumer ${MUST_NOT_COME}`]);
  // Without a record and without named applicants, no confusion of applicants is possible.
  if (envelope.entries.length === 0 && outcome !== 'record') {
    return { kind: 'outcome', outcome, returnCode, ...details };
  }

  const asked = context.expected.length;
  if (envelope.entries.length !== asked) {
    throw new AnswerProblems([
      `/${envelope.listName ?? 'applicants'} must have ${asked} entries: one for each applicant of the request`,
    ]);
  }
  const outcomes = codes.entries.map((entry) => entry.outcome);
  const matching = matchEntries(envelope.entries, outcomes, {
    product: request.productCode,
    expected: context.expected,
    ssnMismatch: context.profile.ssnMismatch,
    pathOf: envelope.toPath,
  });
  if (matching.kind === 'hold') throw new AnswerProblems(matching.problems);

  const { matches } = matching;
  const consumers = listConsumersWithRecord(envelope, matches, codes.entries, request.productCode);
  const reference = outcome === 'record' ? toReference(numbers, context.requestedAt, consumers) : undefined;
  // FAILSAFE's entries may each have a number, or name no applicant. Then no reference belongs to all of them.
  const isForAll = !isFailsafe || (numbers.size === 1 && matches.every(({ told }) => told));
  const entries = readEntryDetails(envelope.entries, outcomes, { isFailsafe });
  const isTold = codes.perEntry || isFailsafe || entries.some((entry) => Object.keys(entry).length > 0);
  const { applicants, unattributed } = attribute(matches, outcomes, entries);
  return {
    kind: 'outcome',
    outcome,
    returnCode,
    ...details,
    ...(reference && isForAll && { reference }),
    ...(isTold && { applicants }),
    ...(unattributed.length > 0 && { unattributed }),
    ...(matching.flagged && { flagged: SSN_MISMATCH }),
  };
}

interface ReturnCodes {
  /** The first code that is not in the product's table. */
  unknown?: string;
  outcome: ReportOutcome;
  returnCode: string;
  entries: EntryReading[];
  /** Whether the applicants' outcomes differ, or the gateway answers for each (interface 2.8). */
  perEntry: boolean;
  remarks: Problem[];
}

/** Interface 7.1: every answer carries a `returnCode`, at its top (2.4) or in each entry (2.8). */
function readReturnCodes(envelope: ResponseEnvelope, { profile, request }: AnswerContext): ReturnCodes {
  const { toPath } = envelope;
  const top = readReturnCode(envelope.top, '');
  const own = envelope.entries.map((entry, index) => readReturnCode(entry, toPath(index)));
  const perEntry = own.some((code) => code !== undefined);
  const codes = own.map((code) => code ?? top);
  const given = [top, ...own].filter((code) => code !== undefined);
  if (given.length === 0) throw new AnswerProblems(['/returnCode is required']);
  const toOutcome = (code: string) => findOutcome(code, request.productCode, profile);
  const unknown = given.find((code) => toOutcome(code) === undefined);
  if (unknown !== undefined) {
    return { unknown, outcome: 'noReport', returnCode: unknown, entries: [], perEntry, remarks: [] };
  }
  const missing = codes.indexOf(undefined);
  if (missing >= 0) throw new AnswerProblems([`${toPath(missing)}/returnCode is required`]);
  const ofCodes = codes.map((code, index) => ({
    outcome: toOutcome(code ?? '') ?? 'noReport',
    isOwn: own[index] !== undefined,
  }));
  const { entries, remarks } = readEntries(envelope.entries, ofCodes, { product: request.productCode, pathOf: toPath });
  const entryOutcomes = entries.map((entry) => entry.outcome);
  const topOutcome = top === undefined ? undefined : toOutcome(top);
  const outcome = entryOutcomes.length > 0 ? combineOutcomes(entryOutcomes) : (topOutcome ?? 'noReport');
  if (topOutcome !== undefined && topOutcome !== outcome) {
    throw new AnswerProblems(['/returnCode must agree with those of the entries']);
  }
  const returnCode = top ?? codes[entryOutcomes.indexOf(outcome)] ?? '';
  return { outcome, returnCode, entries, remarks, perEntry: perEntry || new Set(entryOutcomes).size > 1 };
}

function readReturnCode(object: JsonObject, path: string): string | undefined {
  const code = member(object, 'returnCode');
  if (!isGiven(code)) return undefined;
  if (typeof code !== 'string' || !RETURN_CODE.test(code)) {
    throw new AnswerProblems([`${path}/returnCode must be text of at most 40 printable characters`]);
  }
  return code;
}

/** Returns `record` if any applicant has one (docs/protocol.md). */
function combineOutcomes(outcomes: readonly ReportOutcome[]): ReportOutcome {
  if (outcomes.includes('record')) return 'record';
  return outcomes.includes('noRecord') ? 'noRecord' : 'noReport';
}

/**
 * Lists the numbers of the whole answer: exactly one must be stored (interface 2.4). FAILSAFE's entries may differ
 * (2.8).
 */
function findReferenceNumbers({ top, entries }: ResponseEnvelope): ReadonlySet<string> {
  const numbers = new Set<string>();
  for (const object of [top, ...entries]) {
    const number = member(object, 'reportReferenceNumber');
    if (!isGiven(number)) continue;
    if (!isAlphanumeric(number, 30)) {
      throw new AnswerProblems(['/reportReferenceNumber must be alphanumeric text of at most 30 characters']);
    }
    numbers.add(number);
  }
  return numbers;
}

function toReference(
  numbers: ReadonlySet<string>,
  requestedAt: string,
  applicants: ReportReference['applicants'],
): ReportReference {
  const [reportReferenceNumber] = numbers;
  if (reportReferenceNumber === undefined) throw new AnswerProblems(['/reportReferenceNumber is required']);
  return { reportReferenceNumber, requestedAt, applicants };
}

const MUST_NOT_COME = 'must not come without a record';

/** Checks every `consumerId`, also one without a record: interface 2.4 asks to store each. */
function listConsumersWithRecord(
  envelope: ResponseEnvelope,
  matches: readonly Match[],
  readings: readonly EntryReading[],
  product: ProductCode,
): ReportReference['applicants'] {
  const consumers: ReportReference['applicants'] = [];
  const problems: string[] = [];
  const named = envelope.entries.map((entry) => member(entry, 'consumerId'));
  for (const [index, entry] of envelope.entries.entries()) {
    const { outcome, isHeld } = readings[index] ?? { outcome: 'noReport', isHeld: true };
    const isRecord = outcome === 'record';
    const consumerId = named[index];
    const own: string[] = [];
    // FAILSAFE returns no report (interface 2.8). For any other product a record is a report.
    if (isRecord && product !== 'FAILSAFE') own.push(...findConsumerProblems(member(entry, 'consumer')));
    if ((isRecord || isGiven(consumerId)) && !isAlphanumeric(consumerId, 16)) {
      own.push('/consumerId must be alphanumeric text of 1 to 16 characters');
    } else if (isRecord && named.filter((other) => other === consumerId).length > 1) {
      // An entry without a record counts too: otherwise its owner would be ambiguous.
      own.push('/consumerId names two applicants');
    }
    if (isHeld && own.length === 0) own.push(`/consumer ${isRecord ? 'must not be empty' : MUST_NOT_COME}`);
    problems.push(...own.map((problem) => envelope.toPath(index) + problem));
    if (isRecord && isAlphanumeric(consumerId, 16)) {
      consumers.push({ applicantId: matches[index]?.applicantId ?? '', consumerId });
    }
  }
  if (problems.length > 0) throw new AnswerProblems(problems);
  return consumers;
}

/** A confirmation names no consumers (interface 2.7). Any that it names must be those that were shared. */
function refuseForeignConsumers(envelope: ResponseEnvelope, { request }: AnswerContext): void {
  if (request.productCode !== 'SECONDUSE') return;
  const shared = request.applicants.map(({ consumerId }) => consumerId);
  for (const [index, entry] of envelope.entries.entries()) {
    const consumerId = member(entry, 'consumerId');
    if (isGiven(consumerId) && !shared.includes(String(consumerId))) {
      throw new AnswerProblems([`${envelope.toPath(index)}/consumerId must be one that was shared`]);
    }
  }
}

// Reads the parts of an answer beside its outcome: meanings of codes, reasons, and differences from the request.

/**
 * The codes that interface 2.4 and 2.8 show. The complete list is not shown (7.3): a person decides about every other
 * code, unless the profile's `returnCodes` map it.
 */
const SHOWN_CODES: ReadonlyMap<string, ReportOutcome> = new Map([
  ['Record', 'record'],
  ['No Record', 'noRecord'],
]);

/** Interface 2.7 shows `Record` alone, and only that means posted (docs/protocol.md). */
const SECOND_USE_CODES: ReadonlyMap<string, ReportOutcome> = new Map([['Record', 'record']]);

/**
 * The meaning of a `returnCode` for a product, the profile's own table first; `undefined` where neither table has it.
 */
export function findOutcome(
  returnCode: string,
  product: ProductCode,
  profile: Pick<GatewayProfile, 'returnCodes'>,
): ReportOutcome | undefined {
  const own = profile.returnCodes[product] ?? {};
  const shown = product === 'SECONDUSE' ? SECOND_USE_CODES : SHOWN_CODES;
  const outcome = Object.hasOwn(own, returnCode) ? own[returnCode] : shown.get(returnCode);
  // Any other code of a share needs a person's decision: no setting may turn it into "no record".
  return product === 'SECONDUSE' && outcome !== 'record' ? undefined : outcome;
}

// Details of an answer and its entries. Reasons are known from outside the interface: they are tolerated, and no code
// relies on them.

type EntryDetails = Omit<AnsweredApplicant, 'applicantId' | 'outcome'>;

/** Appears in status and events, so it must be too short for anything personal. */
const REASON_CODE = /^[A-Za-z0-9]{1,4}$/;

/** Omits a code of an unexpected form: it decides nothing. The provider's own words are in the stored report alone. */
function readReasonCode(object: JsonObject): { returnReasonCode?: string } {
  const code = member(object, 'returnReasonCode');
  const shown = typeof code === 'number' ? String(code) : code;
  return typeof shown === 'string' && REASON_CODE.test(shown) ? { returnReasonCode: shown } : {};
}

/**
 * Returns the details of each entry, whose codes, number and `consumerId` have been checked. FAILSAFE names each
 * consumer and its transaction (interface 2.8). A report's `consumerId` is part of the answer's reference; one without
 * a record must be stored too (2.4).
 */
function readEntryDetails(
  entries: readonly JsonObject[],
  outcomes: readonly ReportOutcome[],
  { isFailsafe }: { isFailsafe: boolean },
): EntryDetails[] {
  return entries.map((entry, index) => {
    const [returnCode, number, consumerId] = ['returnCode', 'reportReferenceNumber', 'consumerId'].map((name) =>
      member(entry, name),
    );
    const isNamed = isFailsafe || outcomes[index] !== 'record';
    return {
      ...(typeof returnCode === 'string' && returnCode !== '' && { returnCode }),
      ...readReasonCode(entry),
      ...(isFailsafe && isAlphanumeric(number, 30) && { reportReferenceNumber: number }),
      ...(isNamed && isAlphanumeric(consumerId, 16) && { consumerId }),
    };
  });
}

/**
 * Gives each applicant the details of its entry. An entry that is indistinguishable from another gives its applicant
 * the outcome alone. A `consumerId` that two entries have is given to neither. Both are listed without an applicant.
 */
function attribute(
  matches: readonly Match[],
  outcomes: readonly ReportOutcome[],
  entries: readonly EntryDetails[],
): { applicants: AnsweredApplicant[]; unattributed: EntryDetails[] } {
  const consumerIds = entries.map(({ consumerId }) => consumerId);
  const unattributed: EntryDetails[] = [];
  const applicants = matches.map(({ applicantId, told }, index) => {
    const entry = entries[index] ?? {};
    const { consumerId, ...others } = entry;
    const applicant = { applicantId, outcome: outcomes[index] ?? 'noReport' };
    if (!told) {
      // The answer's code has the same information as an entry with only a code.
      if (Object.keys(entry).some((name) => name !== 'returnCode')) unattributed.push(entry);
      return applicant;
    }
    if (consumerId === undefined) return { ...applicant, ...others };
    if (consumerIds.indexOf(consumerId) === consumerIds.lastIndexOf(consumerId)) return { ...applicant, ...entry };
    unattributed.push({ consumerId });
    return { ...applicant, ...others };
  });
  return { applicants, unattributed };
}

// Differences that the caller should know although they decide nothing. They are listed by path and rule, never by
// value.

interface Echo {
  /** The request's own value. */
  sent: string;
  /** Whether another value shows that the answer is to another request. */
  namesAnotherRequest(value: string): boolean;
}

interface ComparedEchoes {
  /** The places where the answer names another request, so that it is no answer to this one. */
  foreign: string[];
  /** The other places where it differs. */
  remarks: Problem[];
}

/**
 * Compares the values that an answer repeats with those of the request. The interface shows no echo in a report or a
 * confirmation (2.4, 2.7), and in FAILSAFE's sample no values (2.8).
 */
function compareEchoes(envelope: ResponseEnvelope, request: GatewayRequest): ComparedEchoes {
  const echoes = Object.entries(listEchoes(request));
  const entries = envelope.entries.map((object, index) => ({ object, path: envelope.toPath(index) }));
  const compared: ComparedEchoes = { foreign: [], remarks: [] };
  for (const { object, path } of [{ object: envelope.top, path: '' }, ...entries]) {
    for (const [name, { sent, namesAnotherRequest }] of echoes) {
      const given = member(object, name);
      // Accepted: an identifier of digits may come as a JSON number.
      const value = typeof given === 'number' ? String(given) : given;
      if (!isGiven(value) || value === sent) continue;
      const text = typeof value === 'string' ? value.trim() : '';
      const differsInForm = text.toUpperCase() === sent.toUpperCase();
      if (!differsInForm && namesAnotherRequest(text)) {
        compared.foreign.push(`${path}/${name} must be that of the request`);
      } else {
        compared.remarks.push({ path: `${path}/${name}`, rule: 'is not that of the request' });
      }
    }
  }
  return compared;
}

/** The fields of the request that its answer may repeat. */
function listEchoes(request: GatewayRequest): Record<string, Echo> {
  const { customerTraceNumber, productCode } = request;
  // Interface 1 lists the products: another of them is another request. An abbreviation is none of them.
  const isProduct = (value: string) => (PRODUCTS as readonly string[]).includes(value.toUpperCase());
  const product = { sent: productCode, namesAnotherRequest: isProduct };
  if (request.productCode === 'FAILSAFE') {
    // 4.3 and 2.8 do not say whether the number in the answer is the request's: only a number of ours shows that it is
    // another's. Its request names no customer (4.3): what its answer has (2.8) is data.
    return {
      customerTraceNumber: { sent: customerTraceNumber, namesAnotherRequest: isTraceNumber },
      productCode: product,
    };
  }
  return {
    // By 2.3 and 2.6 unique to the request, so any other is another's.
    customerTraceNumber: { sent: customerTraceNumber, namesAnotherRequest: () => true },
    productCode: product,
    customerId: { sent: request.customerId, namesAnotherRequest: () => true },
  };
}
