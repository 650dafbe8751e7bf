/**
 * Reads an answer's JSON into the one shape that is judged, from `applicants[]`, `consumers[]` or `Consumers` alike.
 */
import { isRecord } from '../base/is-record.ts';
import { type JsonObject, member, parseJson, surveyJson } from '../base/json-safety.ts';
import type { GatewayResponse, ResponseEntry } from './responses.ts';

export interface ResponseEnvelope {
  top: JsonObject;
  entries: JsonObject[];
  /** The name of the list that held the entries, for problems' paths; `undefined` where there was none. */
  listName: string | undefined;
  /** The path of an entry, for problems. */
  toPath: (index: number) => string;
}

/** Interface 2.4 and 2.8. `Consumers` is assumed: a spelling that a gateway might use, and that means nothing else. */
const ENTRY_LISTS = ['applicants', 'consumers', 'Consumers'] as const;

/** The interface's own answers nest six deep. */
const MAX_DEPTH = 100;

/**
 * Members that decide the outcome or the applicant. Where one object has such a member twice, its meaning is ambiguous.
 */
const DECIDING_NAMES: ReadonlySet<string> = new Set([
  ...ENTRY_LISTS,
  'returnCode',
  'reportReferenceNumber',
  'customerTraceNumber',
  'productCode',
  'customerId',
  'applicantId',
  'consumerId',
  'consumer',
  'ssn',
  'names',
  'first',
  'last',
  'dob',
]);

/** `null`: not JSON. `problems`: JSON, but not of a shape that may be judged. */
export function readResponseEnvelope(text: string): ResponseEnvelope | { problems: string[] } | null {
  const parsed = parseJson(text);
  if (!parsed) return null;
  const { depth, repeated } = surveyJson(text, DECIDING_NAMES);
  if (depth > MAX_DEPTH) return { problems: [`/ nests deeper than ${MAX_DEPTH} levels`] };
  if (repeated.size > 0) return { problems: [...repeated].map((name) => `/ gives ${name} twice in one object`) };
  return readEnvelope(parsed[0]);
}

function readEnvelope(value: unknown): ResponseEnvelope | { problems: string[] } {
  if (!isRecord(value)) return { problems: ['/ must be an object'] };
  const lists = ENTRY_LISTS.filter((name) => member(value, name) !== undefined && member(value, name) !== null);
  if (lists.length > 1) return { problems: [`/ must not have both ${lists.join(' and ')}`] };
  const [listName] = lists;
  const toPath = (index: number) => `/${listName ?? 'applicants'}/${index}`;
  if (listName === undefined) return { top: value, entries: [], listName, toPath };
  const list = member(value, listName);
  if (!Array.isArray(list)) return { problems: [`/${listName} must be a list`] };
  const entries = list.filter(isRecord);
  if (entries.length !== list.length) return { problems: [`/${listName} must hold nothing but objects`] };
  return { top: value, entries, listName, toPath };
}

/**
 * A stored answer in one shape, with unknown members kept.
 *
 * @param body JSON text that came with an answer
 * @returns `null` where the text is not such an answer
 */
export function readResponse(body: string): GatewayResponse | null {
  const parsed = parseJson(body);
  const envelope = parsed && readEnvelope(parsed[0]);
  if (!envelope || 'problems' in envelope) return null;
  const others = Object.entries(envelope.top).filter(([name]) => name !== envelope.listName && name !== '__proto__');
  return { ...Object.fromEntries(others), applicants: envelope.entries as ResponseEntry[] };
}
