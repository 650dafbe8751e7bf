/** Types of the changes between two reports of the same consumers. Everything but the summary is personal. */

import type { ChangeOptions } from '../fields/change-options.ts';
import type { RefKind } from '../gateway/responses.ts';
import type { ChangeSummary } from '../messages/journey/change-summary.ts';

/** One tradeline of a report. A part that is missing or unreadable is `null`. */
export interface Tradeline {
  contributor: string | null;
  /** Masked by the gateway. */
  accountNumber: string | null;
  type: string | null;
  opened: string | null;
  /** Decimal strings without unneeded zeros. */
  balance: string | null;
  creditLimit: string | null;
  statusCode: string | null;
  /** Its status code means a closed tradeline. */
  closed: boolean;
  /** Several tradelines of a report have its contributor, number and opening date: a rule decides which is which. */
  tied: boolean;
  /**
   * For REFUPD alone (interface 2.5), of new and vanished tradelines: the name and address that it is reported under.
   * Unknown parts are left out.
   */
  identification?: Partial<Record<RefKind, Identification>>;
}

export interface Identification {
  refId: number;
  /** The name or address that it points to, in the form of `ApplicantChanges`, if it points to exactly one. */
  entry?: Record<string, string>;
  /** The other report does not have that name or address. */
  isNew?: boolean;
}

export interface FigureMove {
  /** Decimal strings; `null` if the report has none. */
  from: string | null;
  to: string | null;
  /** `to` minus `from`; absent unless both are given. */
  by?: string;
}

export interface StatusMove {
  change: StatusChange;
  from: string | null;
  to: string | null;
}

/** One tradeline that both reports have, with at least one of the three changes. */
export interface TradelineChange {
  earlier: Tradeline;
  later: Tradeline;
  status?: StatusMove;
  balance?: FigureMove;
  creditLimit?: FigureMove;
}

/** `closed` and `reopened` by the closed status codes; `changed` is every other change, also from and to none. */
export type StatusChange = 'closed' | 'reopened' | 'changed';

/** A field that could not be read and was therefore not compared. */
export interface UnreadableField {
  report: 'earlier' | 'later';
  /** For `account`, `name` and `address`: an entry that is no object, or a list that is none. */
  field: 'balance' | 'creditLimit' | 'statusCode' | 'account' | 'name' | 'address';
  contributor: string | null;
  accountNumber: string | null;
  opened: string | null;
}

/** Upper-case, spaces collapsed; missing parts are left out. */
export type ReportedName = Partial<Record<'first' | 'middle' | 'last', string>>;
/** In the same form; `zip` has its first five digits. */
export type ReportedAddress = Partial<Record<'line1' | 'line2' | 'city' | 'state' | 'zip', string>>;

export interface ApplicantChanges {
  /** From the later report, if it has one. */
  applicantId?: string;
  consumerId?: string;
  /** `joined` and `left`: only one report has a file of this applicant, and nothing is compared. */
  presence: 'both' | 'joined' | 'left';
  newAccounts: Tradeline[];
  /** Tradelines of the earlier report alone. */
  vanishedAccounts: Tradeline[];
  changedAccounts: TradelineChange[];
  newNames: ReportedName[];
  vanishedNames: ReportedName[];
  newAddresses: ReportedAddress[];
  vanishedAddresses: ReportedAddress[];
  unreadable: UnreadableField[];
}

export interface ReportChanges {
  /** Matched by `consumerId`, then `applicantId`. */
  applicants: ApplicantChanges[];
  /** The number of entries that were not compared: without either id, they could not be distinguished. */
  unidentified: { earlier: number; later: number };
  summary: ChangeSummary;
}

interface ComparedSource {
  productCode: string;
  customerTraceNumber: string;
}

/** The compared reports, the thresholds, and the result. Personal throughout. */
export interface SealedChanges extends ReportChanges {
  earlier: ComparedSource;
  later: ComparedSource;
  options: ChangeOptions;
}
