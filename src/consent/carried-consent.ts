/** What a book of consents hands over to the next run, and what it asks of its run (types). */
import type { Entry } from './applicants-word.ts';
import type { ConsentRecord } from './consent-record.ts';

/** A consent as a run hands it over to its next run. */
export interface CarriedConsent extends Partial<Pick<Entry, 'revokesAll' | 'ended' | 'isPending' | 'fault'>> {
  record: ConsentRecord;
  /** The ledger has this consent. */
  isRecorded?: boolean;
  /** The ledger has not taken it, and will not. */
  isRefused?: boolean;
}

/** Tells the book which messages it need not keep. */
export interface Elsewhere {
  /** Whether the ledger has the record. Every claim reads it there. */
  isRecorded(record: ConsentRecord): boolean;
  /** How many messages the ledger has taken so far. */
  readonly written: number;
  isKnownShare(shareId: string): boolean;
}
