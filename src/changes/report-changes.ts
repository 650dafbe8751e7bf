/** What changed between two reports of the same consumers (types). Everything in it but the summary is personal. */
import type { RefKind } from '../gateway/responses.ts';
import type { ChangeSummary } from '../messages/journey/change-summary.ts';

/** One tradeline as a report tells it; what it does not tell, or not readably, is `null`. */
export interface Tradeline {
  contributor: string | null;
  /** Masked by the gateway. */
  accountNumber: string | null;
  type: string | null;
  opened: string | null;
  /** Decimal strings without needless zeros. */
  balance: string | null;
  creditLimit: string | null;
  statusCode: string | null;
  /** Its status code is one of a closed tradeline. */
  closed: boolean;
  /** Several tradelines of a report have its contributor, number and opening date: who is who is by rule. */
  tied: boolean;
  /** REFUPD alone (interface 2.5), of new and vanished ones: under which it came in. What is not known is left out. */
  identification?: Partial<Record<RefKind, Identification>>;
}

export interface Identification {
  refId: number;
  /** The name or address that it points to, as `ApplicantChanges` writes them, where it points to exactly one. */
  entry?: Record<string, string>;
  /** That name or address is not in the other report. */
  isNew?: boolean;
}

export interface FigureMove {
  /** Decimal strings; `null`: the report has none. */
  from: string | null;
  to: string | null;
  /** `to` less `from`; absent unless both are there. */
  by?: string;
}

export interface StatusMove {
  change: StatusChange;
  from: string | null;
  to: string | null;
}

/** One tradeline that both reports have; at least one of the three is there. */
export interface TradelineChange {
  earlier: Tradeline;
  later: Tradeline;
  status?: StatusMove;
  balance?: FigureMove;
  creditLimit?: FigureMove;
}

/** `closed` and `reopened` by the closed status codes; `changed` is every other change, also from and to none. */
export type StatusChange = 'closed' | 'reopened' | 'changed';

/** What could not be read and therefore was not compared. */
export interface UnreadableField {
  report: 'earlier' | 'later';
  /** `account`, `name` and `address`: an entry, or the list of them, that is none. */
  field: 'balance' | 'creditLimit' | 'statusCode' | 'account' | 'name' | 'address';
  contributor: string | null;
  accountNumber: string | null;
  opened: string | null;
}

/** Upper-case, spaces collapsed; parts that are missing are left out. */
export type ReportedName = Partial<Record<'first' | 'middle' | 'last', string>>;
/** So are these; `zip` by its first five digits. */
export type ReportedAddress = Partial<Record<'line1' | 'line2' | 'city' | 'state' | 'zip', string>>;

export interface ApplicantChanges {
  /** As the later report has it, where it does. */
  applicantId?: string;
  consumerId?: string;
  /** `joined` and `left`: only one report has a file of this applicant, and nothing is compared. */
  presence: 'both' | 'joined' | 'left';
  newAccounts: Tradeline[];
  /** In the earlier report alone. */
  vanishedAccounts: Tradeline[];
  changedAccounts: TradelineChange[];
  newNames: ReportedName[];
  vanishedNames: ReportedName[];
  newAddresses: ReportedAddress[];
  vanishedAddresses: ReportedAddress[];
  unreadable: UnreadableField[];
}

export interface ReportChanges {
  /** By `consumerId`, then `applicantId`. */
  applicants: ApplicantChanges[];
  /** Entries with neither id that could not be told apart: not compared. */
  unidentified: { earlier: number; later: number };
  summary: ChangeSummary;
}
