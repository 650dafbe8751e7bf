import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { omitUndefined } from '../base/defined.ts';
import { type InquiryDescription, type InquiryTerms, pickTerms } from './inquiry.ts';
import { TRACE_LETTERS } from './products.ts';

/** RFC 4648 base 32: no digit can be mistaken for a letter when it is read out on the telephone. */
const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The largest `ordinal` that two digits can carry. */
export const MAX_ORDINAL = 99;

export type TraceNumberParts = Pick<
  InquiryDescription,
  'environment' | 'customerId' | 'workflowType' | 'runKey' | 'productCode' | 'ordinal'
> & { shareId?: string | undefined };

/**
 * `customerTraceNumber` (AN 30, interface 2.3): two letters, 24 base-32 characters (120 bits of SHA-256), and two
 * digits. The digits count amendments and deliberate repeats, or identify a share's omitted applicants. A pure function
 * of the request, never of the order of events: a re-run of the same step finds the same ledger row.
 */
export function deriveTraceNumber(parts: TraceNumberParts): string {
  if (!Number.isInteger(parts.ordinal) || parts.ordinal < 0 || parts.ordinal > MAX_ORDINAL) {
    throw new RangeError(`ordinal must be 0 to ${MAX_ORDINAL}`);
  }
  // JSON keeps the parts apart: two different lists of strings never have the same text.
  const name = JSON.stringify([
    parts.environment,
    parts.customerId,
    parts.workflowType,
    parts.runKey,
    parts.productCode,
    parts.shareId ?? '',
  ]);
  return (
    TRACE_LETTERS[parts.productCode] +
    encodeBase32(sha256(utf8ToBytes(name)), 24) +
    String(parts.ordinal).padStart(2, '0')
  );
}

/**
 * The number of an attempt that an operator's `resend` permits, if the profile wants a new one. It is the inquiry's
 * number and the attempt, in the two characters that the interface's 30 leave. Base 36 makes it repeat after 1,296
 * attempts. The inquiry keeps its own number, under which the ledger finds it.
 */
export function toResendNumber(customerTraceNumber: string, attempt: number): string {
  return customerTraceNumber + (attempt % 1_296).toString(36).toUpperCase().padStart(2, '0');
}

const LETTERS = Object.values(TRACE_LETTERS).join('|');
const TRACE_NUMBER = new RegExp(`^(?:${LETTERS})[${BASE_32}]{24}[0-9]{2}(?:[0-9A-Z]{2})?$`);

/** Whether a text has the form of the numbers that `deriveTraceNumber` and `toResendNumber` make. */
export function isTraceNumber(text: string): boolean {
  return TRACE_NUMBER.test(text);
}

/** RFC 4648 base 32 without padding: the first `length` characters. */
export function encodeBase32(bytes: Uint8Array, length: number): string {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 5 && text.length < length) {
      bits -= 5;
      text += BASE_32[(buffer >> bits) & 31];
    }
  }
  return text;
}

type RunOfInquiry = Pick<InquiryDescription, 'environment' | 'profile' | 'customerId' | 'workflowType'>;
type AskedInquiry = Pick<InquiryDescription, 'runKey' | 'productCode' | 'shareId'> & InquiryTerms;

/**
 * Describes an inquiry as the ledger keeps it, with its trace number.
 *
 * @param amends the trace number of the inquiry that it corrects
 */
export function describeInquiry(
  { environment, profile, customerId, workflowType }: RunOfInquiry,
  { runKey, productCode, shareId, ...terms }: AskedInquiry,
  ordinal: number,
  amends?: string,
): InquiryDescription {
  const run = { environment, profile, customerId, workflowType };
  return {
    customerTraceNumber: deriveTraceNumber({ ...run, runKey, productCode, shareId, ordinal }),
    ...run,
    runKey,
    productCode,
    ordinal,
    ...pickTerms(terms),
    ...omitUndefined({ shareId, amends }),
  };
}
