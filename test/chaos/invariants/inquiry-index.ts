/** The evidence by trace number, and by the stage or share that a trace number is of. */
import type { Evidence, LedgerAttempt, LedgerDecision, LedgerInquiry, SandboxPosting } from '../evidence.ts';

/** States of an attempt of which no byte was sent. */
const NOT_SENT: readonly string[] = ['notSent', 'untrusted'];

/** Digits at a trace number's end that count amendments and repeats (src/model/trace-number.ts). */
const ORDINAL_DIGITS = 2;

export class InquiryIndex {
  readonly inquiries: ReadonlyMap<string, LedgerInquiry>;
  readonly #attempts: Map<string, LedgerAttempt[]>;
  readonly #decisions: Map<string, LedgerDecision[]>;

  constructor({ ledger }: Evidence) {
    this.inquiries = new Map(ledger.inquiries.map((inquiry) => [inquiry.customerTraceNumber, inquiry]));
    this.#attempts = Map.groupBy(ledger.attempts, ({ customerTraceNumber }) => customerTraceNumber);
    for (const attempts of this.#attempts.values()) attempts.sort((one, other) => one.attempt - other.attempt);
    this.#decisions = Map.groupBy(ledger.decisions, ({ customerTraceNumber }) => customerTraceNumber);
  }

  /** In ascending order. */
  attempts(customerTraceNumber: string): readonly LedgerAttempt[] {
    return this.#attempts.get(customerTraceNumber) ?? [];
  }

  decisions(customerTraceNumber: string): readonly LedgerDecision[] {
    return this.#decisions.get(customerTraceNumber) ?? [];
  }

  /** The attempts of which at least a byte may have been sent. */
  sent(customerTraceNumber: string): readonly LedgerAttempt[] {
    return this.attempts(customerTraceNumber).filter(({ state }) => !NOT_SENT.includes(state));
  }

  /** Attempts that only a resend made possible. */
  resends(customerTraceNumber: string): number {
    const permits = this.decisions(customerTraceNumber).filter(({ action }) => action === 'resend');
    const ids = new Set(permits.map(({ decisionId }) => decisionId));
    return this.attempts(customerTraceNumber).filter(({ permittedBy }) => permittedBy && ids.has(permittedBy)).length;
  }

  /** Tells whether an operator decided to make this inquiry in place of another. */
  isAmendment(customerTraceNumber: string): boolean {
    const amends = this.inquiries.get(customerTraceNumber)?.amends;
    return amends !== undefined && this.decisions(amends).some(({ action }) => action === 'amend');
  }

  /** Names the stage or share: by the ledger, and where it knows nothing of the number by the number itself. */
  stepOf(customerTraceNumber: string): string {
    const inquiry = this.inquiries.get(customerTraceNumber);
    if (!inquiry) return `trace number ${customerTraceNumber.slice(0, -ORDINAL_DIGITS)}`;
    const { workflowType, runKey, productCode, shareId } = inquiry;
    const type = workflowType === 'lendingJourney' ? 'journey' : workflowType;
    return `${type} ${runKey} ${productCode}${shareId === undefined ? '' : ` share ${shareId}`}`;
  }
}

/** Tells whether the sandbox answered with this number. FAILSAFE's entries have their own numbers: a digit follows. */
export function isReferenceOf({ productCode, reportReferenceNumber }: SandboxPosting, number: string): boolean {
  return (
    number === reportReferenceNumber || (productCode === 'FAILSAFE' && number.slice(0, -1) === reportReferenceNumber)
  );
}
