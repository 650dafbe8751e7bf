/** An operator who asks the provider about each hold, and decides as a careful person would: by what was posted. */

import type { HoldStatus } from '../../src/messages/journey/shapes.ts';
import type { ResolveInquiryMessage } from '../../src/messages/resolve-inquiry.ts';
import type { HoldAction } from '../../src/model/failure-types.ts';
import type { ReportReference } from '../../src/model/report-outcome.ts';
import { drawFrom } from './draw.ts';
import type { SandboxPosting } from './evidence.ts';
import { readJournal } from './evidence-sandbox.ts';
import { applicantsOf, correctedSsns } from './journey-inputs.ts';
import { isRefusal, type People } from './people.ts';
import type { PlannedRun } from './runs.ts';

/**
 * How old a hold must be before the provider's word on it is final: longer than HTTP's time-outs, and than the
 * gateway's slowest fault takes until it posts.
 */
const ASKED_AFTER_MS = 6_000;
/** The simulated operator gives up after this many resends. */
const MOST_RESENDS = 4;

/** The run whose holds they are. Without SSNs nothing can be amended. */
type Decided = Pick<PlannedRun, 'runKey' | 'leaveHeld' | 'ssns'>;

export class Operator {
  readonly #people: People;
  readonly #refused = new Set<string>();

  constructor(people: People) {
    this.#people = people;
  }

  /** Decides about each hold of the run that is ripe. How many decisions were accepted. */
  async resolve(plan: Decided, holds: readonly HoldStatus[]): Promise<number> {
    let taken = 0;
    for (const hold of holds) {
      if (Date.now() - Date.parse(hold.since) < ASKED_AFTER_MS) continue;
      const decision = this.decisionAbout(plan, hold);
      if (!decision) continue;
      if (await this.#take(decision)) taken += 1;
    }
    return taken;
  }

  /** The hold has changed, or the server is unreachable. The operator reads the hold again. */
  async #take(decision: ResolveInquiryMessage): Promise<boolean> {
    try {
      await this.#people.decide(decision);
      return true;
    } catch (error) {
      if (isRefusal(error)) this.#refused.add(decision.decisionId);
      return false;
    }
  }

  /** `undefined` if the plan leaves the hold undecided. */
  decisionAbout(plan: Decided, hold: HoldStatus): ResolveInquiryMessage | undefined {
    if (plan.leaveHeld) return undefined;
    const { customerTraceNumber, attempts: attempt } = hold;
    const posted = this.#postedUnder(customerTraceNumber).at(-1);
    const wanted = this.#actionFor(hold, { isPosted: posted !== undefined, mayAmend: plan.ssns.length > 0 });
    // A journey that is ending, or one whose hold another decision has answered, takes no resend any more.
    const action = this.#refused.has(decisionId(hold, wanted)) ? 'abandon' : wanted;
    const message: ResolveInquiryMessage = {
      journeyId: plan.runKey,
      decisionId: decisionId(hold, action),
      ...{ customerTraceNumber, attempt, action },
      by: 'operator',
      reason: 'asked the provider',
      providerSaid: posted ? 'posted' : 'notPosted',
    };
    if (action === 'accept') return { ...message, ...accepted(posted, hold) };
    if (action === 'amend') return { ...message, applicants: applicantsOf(correctedSsns(plan.ssns)) };
    return message;
  }

  #actionFor(
    { customerTraceNumber, attempts, failureType, allowedActions }: HoldStatus,
    { isPosted, mayAmend }: { isPosted: boolean; mayAmend: boolean },
  ): HoldAction {
    const { seed } = this.#people.world.plan;
    const draw = drawFrom(seed, 'decision', customerTraceNumber, attempts, failureType);
    const gaveUp = draw.chance(0.1);
    const may = (action: HoldAction) => allowedActions.includes(action);
    if (gaveUp) return 'abandon';
    if (isPosted && may('accept')) return 'accept';
    if (mayAmend && may('amend')) return 'amend';
    if (!isPosted && may('resend') && attempts < MOST_RESENDS) return 'resend';
    return 'abandon';
  }

  #postedUnder(customerTraceNumber: string): SandboxPosting[] {
    const { postings } = readJournal(this.#people.world.journalFile);
    return postings.filter((posting) => posting.customerTraceNumber === customerTraceNumber);
  }
}

/**
 * Of one hold, by when it began: one attempt may be held twice, for want of a token and again, or for what became of it. Each
 * is decided anew; what was sent for one of them and got no answer is sent again as it was.
 */
function decisionId({ customerTraceNumber, attempts, since }: HoldStatus, action: HoldAction): string {
  return `D-${customerTraceNumber}-${attempts}-${Date.parse(since).toString(36)}-${action}`;
}

/** The provider's answer: the reference, and the applicants whose reports were returned. */
function accepted(posted: SandboxPosting | undefined, hold: HoldStatus): Partial<ResolveInquiryMessage> {
  const withReport = posted?.applicants.filter(({ hasReport }) => hasReport) ?? [];
  if (!posted || withReport.length === 0) {
    // For SECONDUSE only Record means posted.
    return { outcome: 'noRecord', ...(hold.productCode === 'SECONDUSE' ? { providerSaid: 'notPosted' } : {}) };
  }
  const reference: ReportReference = {
    reportReferenceNumber: posted.reportReferenceNumber,
    requestedAt: hold.since,
    // A SECONDUSE names consumers alone, in the applicants' order.
    applicants: posted.applicants.flatMap(({ applicantId, consumerId, hasReport }, nth) =>
      hasReport ? [{ applicantId: applicantId ?? `${nth + 1}A`, consumerId }] : [],
    ),
  };
  return { outcome: 'record', reference };
}
