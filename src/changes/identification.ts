/** Names and addresses: which are new, which are gone, and which of them belong to a tradeline. */

import { isRecord } from '../base/is-record.ts';
import type { AccountCrossReference, RefKind } from '../gateway/responses.ts';
import type { Identification, ReportedAddress, ReportedName } from './report-changes.ts';
import { comparable, inOrder } from './report-text.ts';

type Parts = Record<string, string>;

/** Distinct entries by all of their parts. Entries that differ only in case and spaces are the same. */
export class Identities<Entry extends Parts> {
  readonly #byKey = new Map<string, Entry>();
  readonly #read: (entry: Record<string, unknown>) => Entry;

  constructor(entries: Iterable<Record<string, unknown>>, read: (entry: Record<string, unknown>) => Entry) {
    this.#read = read;
    for (const entry of entries) {
      const parts = read(entry);
      if (Object.keys(parts).length > 0) this.#byKey.set(JSON.stringify(parts), parts);
    }
  }

  has(entry: Record<string, unknown>): boolean {
    return this.#byKey.has(JSON.stringify(this.#read(entry)));
  }

  /** The entries that `other` lacks, in a fixed order. */
  notIn(other: Identities<Entry>): Entry[] {
    return [...this.#byKey]
      .filter(([key]) => !other.#byKey.has(key))
      .sort(([one], [another]) => inOrder(one, another))
      .map(([, entry]) => entry);
  }
}

export function readName(entry: Record<string, unknown>): ReportedName & Parts {
  return parts(entry, ['first', 'middle', 'last']);
}

/** A ZIP+4 that only one report gives does not make another address. */
export function readAddress(entry: Record<string, unknown>): ReportedAddress & Parts {
  const address = parts(entry, ['line1', 'line2', 'city', 'state', 'zip']);
  const fiveDigits = /^(\d{5})-?\d{4}$/.exec(address.zip ?? '')?.[1];
  return fiveDigits === undefined ? address : { ...address, zip: fiveDigits };
}

function parts(entry: Record<string, unknown>, names: readonly string[]): Parts {
  const found: Parts = {};
  for (const name of names) {
    const text = Object.hasOwn(entry, name) ? comparable(entry[name]) : null;
    if (text !== null) found[name] = text;
  }
  return found;
}

/** Interface 2.5. */
const REF_FIELDS: Record<RefKind, keyof AccountCrossReference> = {
  name: 'consumerNameRefId',
  address: 'consumerAddressRefId',
  ssn: 'consumerSsnRefId',
  dob: 'consumerDOBRefId',
  phone: 'consumerPhoneNbrRefId',
  relatedAddress: 'relatedAddressRefId',
};

interface IdentificationContext {
  resolve: (kind: RefKind, refId: number | undefined) => Record<string, unknown> | undefined;
  /** The entries of the other report. */
  names: Identities<ReportedName & Parts>;
  addresses: Identities<ReportedAddress & Parts>;
}

/**
 * 0 means unknown (docs/decisions/gateway.md), and so does anything that is no integer. `undefined` where nothing is
 * known.
 */
export function identificationOf(
  account: Record<string, unknown>,
  { resolve, names, addresses }: IdentificationContext,
): Partial<Record<RefKind, Identification>> | undefined {
  const reference = account.accountCrossReference;
  if (!isRecord(reference)) return undefined;
  const found: Partial<Record<RefKind, Identification>> = {};
  for (const kind of Object.keys(REF_FIELDS) as RefKind[]) {
    const refId = reference[REF_FIELDS[kind]];
    if (typeof refId !== 'number' || !Number.isSafeInteger(refId) || refId === 0) continue;
    const entry = resolve(kind, refId);
    if (entry && kind === 'name') {
      found[kind] = { refId, entry: readName(entry), isNew: !names.has(entry) };
    } else if (entry && (kind === 'address' || kind === 'relatedAddress')) {
      found[kind] = { refId, entry: readAddress(entry), isNew: !addresses.has(entry) };
    } else {
      found[kind] = { refId };
    }
  }
  return Object.keys(found).length > 0 ? found : undefined;
}
