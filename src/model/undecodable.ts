/**
 * What stands in for a message that could not be decoded (docs/protection.md): the worker's codec puts it there instead
 * of throwing, because one message that throws stops a run for good. Pure: workflow code imports it.
 */

/**
 * - `foreignEncoding`: an encoding that this software does not read
 * - `malformed`: says that it is encrypted, and does not have that form
 * - `tampered`: the bytes, the key id or the namespace are not those that were encrypted
 * - `foreignNamespace`: encrypted for a namespace that is not on the allow-list
 * - `keyRefused`: encrypted under a key that an operator has refused for good
 * - `inTheClear`: not encrypted, outside the sandbox, although it can lead to a posting
 * - `unparsable`: decoded, and not JSON, or JSON nested without measure
 */
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

export function undecodable(reason: UndecodableReason): Undecodable {
  return { undecodable: { reason } };
}

/** In words, for the person who reads the refusal. */
export function undecodableRule({ undecodable: { reason } }: Undecodable): string {
  return reason === 'inTheClear'
    ? 'the message came in the clear: outside the sandbox it must be encrypted'
    : `the message could not be decoded (${reason})`;
}

/** Whether a message is the marker; a caller who sends one himself is refused like all others. */
export function isUndecodable(value: unknown): value is Undecodable {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'undecodable')) return false;
  const { undecodable: inner } = value as { undecodable: unknown };
  if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, 'reason')) return false;
  return (UNDECODABLE_REASONS as readonly unknown[]).includes((inner as { reason: unknown }).reason);
}
