/**
 * The shapes in which people and programs read reports, refusals and lists of changes, and how a refusal's body travels.
 * What a run compares by itself (`compareWithEarlier`) leaves the worker as counts: it has no row of a reader.
 */

import { HIDDEN_CHARACTER } from '../../base/hidden-characters.ts';
import type { InquiryDescription } from '../../model/inquiry.ts';
import type { Problem } from '../../model/problems.ts';
import type { ProductCode } from '../../model/products.ts';
import type { Sealed } from '../../protection/sealed/sealing.ts';
import type { Row } from '../database/tables.ts';

/** A refusal's body, ready to be written. */
export interface SealedRefusal {
  sealed: Sealed;
  isWhole: boolean;
}

export interface Reader {
  /** A person or a program, by the name that the HTTP API or the command line knows. */
  by: string;
  via: 'ledger' | 'api';
  /** The end user that it is read for. Refused unless the report was pulled for that one. */
  endUser?: string;
  /** With a purpose the report is served again to its end user, without a new inquiry; otherwise it is a look. */
  purpose?: string;
  /** Only a masked view is given out. */
  isRedacted?: boolean;
}

const MAX_READER_TEXT = 200;

/** Returns the faults in a reader's texts, by path and rule. These texts stay readable in the ledger. */
export function findReaderProblems(reader: Partial<Pick<Reader, 'by' | 'purpose' | 'endUser'>>): Problem[] {
  return (['by', 'purpose', 'endUser'] as const).flatMap((name) => {
    const text = reader[name];
    if (text === undefined) return [];
    if (text.trim() !== '' && [...text].length <= MAX_READER_TEXT && !HIDDEN_CHARACTER.test(text)) return [];
    return [{ path: `/${name}`, rule: `must be 1 to ${MAX_READER_TEXT} printable characters` }];
  });
}

/** The kind of a body in the ledger. */
export type BodyKind = Row<'sealed_bodies'>['kind'];

/** The facts that decide who may see a run. A share's end user is the secondary user. */
export interface MadeFor extends Pick<InquiryDescription, 'profile' | 'endUserCode' | 'endUser'> {
  /** Absent for work that is about no inquiry. */
  productCode?: ProductCode;
  /** For a share by itself: the end user for whom its report was pulled, if the share's start named one. */
  reportEndUserCode?: string;
}

// A refusal's body on its way through Temporal, while the ledger cannot be reached: sealed, so that only the ledger's keys open it.

/** Base64. Bound to its ledger, inquiry and attempt, as in the ledger. */
export interface CarriedRefusal {
  body: string;
  wrappedKey: string;
  keyId: string;
  algorithm: string;
  isWhole: boolean;
}

/** In characters. Temporal drops the details of a failure of 2 MB, and the protocol needs them: a longer body is lost. */
const MOST_CARRIED = 400_000;

/** `undefined` where it is too long to be carried. */
export function toCarriedRefusal({ sealed, isWhole }: SealedRefusal): CarriedRefusal | undefined {
  const { body, wrappedKey, keyId, algorithm } = sealed;
  const carried = { body: toBase64(body), wrappedKey: toBase64(wrappedKey), keyId, algorithm, isWhole };
  return carried.body.length > MOST_CARRIED ? undefined : carried;
}

export function toSealedRefusal({ body, wrappedKey, keyId, algorithm, isWhole }: CarriedRefusal): SealedRefusal {
  const sealed = { body: Buffer.from(body, 'base64'), wrappedKey: Buffer.from(wrappedKey, 'base64'), keyId, algorithm };
  return { sealed, isWhole };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
