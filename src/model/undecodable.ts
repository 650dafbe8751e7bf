/**
 * The marker that takes the place of a message that could not be decoded (docs/protection.md). The worker's codec
 * returns it instead of throwing, because one message that throws stops a run for good. Pure: workflow code imports it.
 */
import { isRecord } from '../base/is-record.ts';

/** protection/errors.ts says each in words. */
export const UNDECODABLE_REASONS = [
  'foreignEncoding',
  'malformed',
  'tampered',
  'foreignNamespace',
  'keyRefused',
  'inTheClear',
  'unparsable',
] as const;
export type UndecodableReason = (typeof UNDECODABLE_REASONS)[number];

/** Never a valid message: no message has this field. */
export interface Undecodable {
  undecodable: { reason: UndecodableReason };
}

export function createUndecodable(reason: UndecodableReason): Undecodable {
  return { undecodable: { reason } };
}

/** How a sender has its payloads encrypted, in the words of errors. */
export const HOW_TO_ENCRYPT = 'by the codec server (CODEC_SERVER_URL) or with the workers’ key ring (KEY_RING_FILE)';

/**
 * Why a start in the clear fails. The failure converter leaves these words readable, because the sender has no key.
 * They are the same for every run.
 */
export const CLEAR_START_MESSAGE = `the input came in the clear, and nothing was sent: it must be encrypted, ${HOW_TO_ENCRYPT}. It lies readable in the history of this run: delete the run`;

/** Describes for people why such a message is refused. */
export function describeUndecodable({ undecodable: { reason } }: Undecodable): string {
  return reason === 'inTheClear'
    ? `the message came in the clear: it must be encrypted, ${HOW_TO_ENCRYPT}`
    : `the message could not be decoded (${reason})`;
}

/** Whether a message is the marker. A marker from a caller is refused like the others. */
export function isUndecodable(value: unknown): value is Undecodable {
  const inner = isRecord(value) && Object.hasOwn(value, 'undecodable') ? value.undecodable : undefined;
  const reason = isRecord(inner) && Object.hasOwn(inner, 'reason') ? inner.reason : undefined;
  return (UNDECODABLE_REASONS as readonly unknown[]).includes(reason);
}
