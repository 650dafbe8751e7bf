/** The references that a caller's inquiries have left in the ledger. */
import { consumersOf, wordsOf } from '../messages/pull/consumer-results.ts';
import type { ConsumerResult } from '../messages/pull/shapes.ts';
import type { Outcome } from '../model/inquiry.ts';
import type { ProductCode } from '../model/products.ts';
import type { ProviderText, ReportReference } from '../model/report-outcome.ts';
import type { InquiryView } from './records.ts';

/** What the ledger knows of an owner's references. */
export interface LedgerReferences {
  /** The owner's id (model/owner-id.ts). */
  journeyId: string;
  references: { productCode: ProductCode; customerTraceNumber: string; reference: ReportReference }[];
  shares: { shareId: string; reportReferenceNumber: string }[];
  /** For an answered FAILSAFE: each consumer's outcome, as in the run's result. */
  consumers?: ConsumerResult[];
  /** The provider's words beside its codes. They may name a person. */
  said?: ({ productCode: ProductCode; customerTraceNumber: string; applicantId?: string } & ProviderText)[];
}

/** For each product and share, the reference of the newest answered inquiry; none where that had no record. */
export function referencesOf(journeyId: string, inquiries: readonly InquiryView[]): LedgerReferences {
  const stages = new Map<ProductCode, { customerTraceNumber: string; answer: Outcome }>();
  const shares = new Map<string, Outcome>();
  let consumers: ConsumerResult[] | undefined;
  // Oldest first, so that the newest remains.
  for (const inquiry of inquiries) {
    const answer = outcomeOf(inquiry);
    if (!answer) continue;
    const { productCode, customerTraceNumber, shareId } = inquiry;
    if (productCode !== 'SECONDUSE') stages.set(productCode, { customerTraceNumber, answer });
    else if (shareId !== undefined) shares.set(shareId, answer);
    if (productCode === 'FAILSAFE') consumers = consumersOf(answer, inquiry.applicantIds ?? namedIn(answer));
  }
  const said = [...stages].flatMap(([productCode, { customerTraceNumber, answer }]) =>
    wordsOf(answer).map((words) => ({ productCode, customerTraceNumber, ...words })),
  );
  return {
    journeyId,
    references: [...stages].flatMap(
      ([
        productCode,
        {
          customerTraceNumber,
          answer: { reference },
        },
      ]) => (reference ? [{ productCode, customerTraceNumber, reference }] : []),
    ),
    shares: [...shares].flatMap(([shareId, { reference }]) =>
      reference ? [{ shareId, reportReferenceNumber: reference.reportReferenceNumber }] : [],
    ),
    ...(consumers === undefined || consumers.length === 0 ? {} : { consumers }),
    ...(said.length > 0 ? { said } : {}),
  };
}

/** The applicants of an inquiry from before the ledger recorded them, as far as the answer names them. */
function namedIn({ applicants, reference }: Outcome): string[] {
  return (applicants ?? reference?.applicants ?? []).map(({ applicantId }) => applicantId);
}

function outcomeOf({ attempts }: InquiryView): Outcome | undefined {
  const answers = attempts.flatMap(({ state, answer }) =>
    (state === 'answered' || state === 'accepted') && answer?.kind === 'outcome' ? [answer] : [],
  );
  return answers.at(-1);
}
