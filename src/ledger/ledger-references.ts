/** The references that a caller's inquiries have left in the ledger. */
import type { ConsumerWithoutRecord } from '../messages/journey/shapes.ts';
import { consumersWithoutRecord, failsafeConsumers, wordsOf } from '../messages/pull/consumer-results.ts';
import type { ConsumerResult, UnattributedConsumer } from '../messages/pull/shapes.ts';
import type { Outcome } from '../model/inquiry.ts';
import type { ProductCode } from '../model/products.ts';
import type { ProviderText, ReportReference } from '../model/report-outcome.ts';
import type { InquiryView } from './records.ts';

/** What the ledger knows of an owner's references. */
export interface LedgerReferences {
  /** The owner's id (model/owner-id.ts). */
  journeyId: string;
  references: (InquiryName & { reference: ReportReference })[];
  shares: { shareId: string; reportReferenceNumber: string }[];
  /** For an answered FAILSAFE: each consumer's outcome, as in the run's result. */
  consumers?: ConsumerResult[];
  /** What FAILSAFE says of one of several applicants, and does not show of which. */
  unattributed?: UnattributedConsumer[];
  /** The provider's words beside its codes. They may name a person. */
  said?: (InquiryName & { applicantId?: string } & ProviderText)[];
  /** The consumers that an answer names and has no record of. */
  withoutRecord?: (InquiryName & ConsumerWithoutRecord)[];
}

interface InquiryName {
  productCode: ProductCode;
  customerTraceNumber: string;
}

/** For each product and share, the reference of the newest answered inquiry; none where that had no record. */
export function referencesOf(journeyId: string, inquiries: readonly InquiryView[]): LedgerReferences {
  const stages = new Map<ProductCode, { customerTraceNumber: string; answer: Outcome }>();
  const shares = new Map<string, Outcome>();
  let failsafe: ReturnType<typeof failsafeConsumers> | undefined;
  // Oldest first, so that the newest remains.
  for (const inquiry of inquiries) {
    const answer = outcomeOf(inquiry);
    if (!answer) continue;
    const { productCode, customerTraceNumber, shareId } = inquiry;
    if (productCode !== 'SECONDUSE') stages.set(productCode, { customerTraceNumber, answer });
    else if (shareId !== undefined) shares.set(shareId, answer);
    if (productCode === 'FAILSAFE') failsafe = failsafeConsumers(answer, inquiry.applicantIds ?? namedIn(answer));
  }
  const ofStages = <T extends object>(list: (answer: Outcome, productCode: ProductCode) => readonly T[]) =>
    [...stages].flatMap(([productCode, { customerTraceNumber, answer }]) =>
      list(answer, productCode).map((item) => ({ productCode, customerTraceNumber, ...item })),
    );
  const said = ofStages(wordsOf);
  const withoutRecord = ofStages((answer, product) => (product === 'FAILSAFE' ? [] : consumersWithoutRecord(answer)));
  return {
    journeyId,
    references: ofStages(({ reference }) => (reference ? [{ reference }] : [])),
    shares: [...shares].flatMap(([shareId, { reference }]) =>
      reference ? [{ shareId, reportReferenceNumber: reference.reportReferenceNumber }] : [],
    ),
    ...(failsafe && failsafe.consumers.length > 0 ? failsafe : {}),
    ...(said.length > 0 ? { said } : {}),
    ...(withoutRecord.length > 0 ? { withoutRecord } : {}),
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
