/**
 * The marker that takes the place of a message that could not be decoded (docs/protection.md). The worker's codec
 * returns it instead of throwing, because one message that throws stops a run for good. Pure: workflow code imports it.
 */
import { isRecord } from '../base/is-record.ts';

/** The reasons, each in words for operators. */
export const UNDECODABLE_WORDS = {
  foreignEncoding: 'its encoding is not supported here',
  malformed: 'it claims to be encrypted, but does not have that form',
  tampered:
    'its bytes, key id or namespace are not those that were encrypted, or the key ring has another key under that id: compare it with its copy',
  foreignNamespace: 'it was encrypted for a namespace that is not on the allow-list',
  keyRefused: 'it was encrypted under a key that was refused by `credit-journey keys refuse`',
  inTheClear: 'it came in the clear, although it can lead to a posting',
  unparsable: 'it is not JSON in UTF-8, or is nested too deeply',
} as const;
export type UndecodableReason = keyof typeof UNDECODABLE_WORDS;
export const UNDECODABLE_REASONS = Object.keys(UNDECODABLE_WORDS) as UndecodableReason[];

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
  return typeof reason === 'string' && Object.hasOwn(UNDECODABLE_WORDS, reason);
}
