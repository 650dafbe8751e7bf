/**
 * The shapes in which people and programs read reports, refusals and lists of changes, and in which a refusal's body
 * travels. What a run compares by itself (`compareWithEarlier`) leaves the worker as counts: it has no row of a reader.
 */

import { HIDDEN_CHARACTER } from '../../base/hidden-characters.ts';
import type { InquiryDescription } from '../../model/inquiry.ts';
import type { Problem } from '../../model/problems.ts';
import type { ProductCode } from '../../model/products.ts';
import type { Row } from '../database/tables.ts';

/**
 * A refusal's body, sealed and bound to its ledger, inquiry and attempt. Base64, because it travels through Temporal
 * while the ledger cannot be reached.
 */
export interface SealedRefusal {
  body: string;
  wrappedKey: string;
  keyId: string;
  algorithm: string;
  isWhole: boolean;
}

/** In characters. Temporal drops the details of a failure of 2 MB, and the protocol needs them: a longer body is lost. */
const MOST_CARRIED = 400_000;

export function mayBeCarried({ body }: SealedRefusal): boolean {
  return body.length <= MOST_CARRIED;
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
