import type { RunFlag, RunHold } from '../ledger/holds/holds.ts';
import type { DecisionVerdict, RunDecision, ShareWithdrawal } from '../ledger/records.ts';
import type { RepeatStageMessage } from '../messages/advance.ts';
import { toCanonicalRequest } from '../model/canonical-request.ts';
import { decisionContent, repeatContent } from '../model/decision-content.ts';
import type { HighWaterMark } from '../model/ledger-watch.ts';
import { formatProblem, InvalidInputError, selectShownProblems } from '../model/problems.ts';
import type { StageCode } from '../model/products.ts';
import type { DecisionProofVerifier } from '../protection/proofs.ts';
import type {
  CarriedOutcome,
  CloseAttemptArgs,
  LookUpInquiryArgs,
  RecordDecisionArgs,
  UnprovenDecision,
} from './contract.ts';
import { type ActivityDependencies, findPreparedProfile, getCallingRun, requireNewest } from './dependencies.ts';
import { translateErrors } from './failures.ts';
import { listApplicantProblems, toSentContent } from './inquiry-request.ts';

/**
 * Creates the activities that only read or write the ledger. Each is idempotent, so Temporal may repeat it without
 * limit. None needs a gateway profile or judges the request, so any worker can run them.
 *
 * @throws `LedgerUnavailable` (repeated), `LedgerChanged` (final), `RequestDiffers` (final).
 */
export function createLedgerActivities({ ledger }: Pick<ActivityDependencies, 'ledger'>) {
  const digestContent = ({ run, inquiry, applicants, reference }: LookUpInquiryArgs) =>
    ledger.digest(toCanonicalRequest(toSentContent(run, { inquiry, applicants, reference })));
  return translateErrors({
    /** Only reads; builds and validates nothing. */
    lookUpInquiry: (args: LookUpInquiryArgs) =>
      ledger.lookUp(args.run.ledgerId, args.inquiry.customerTraceNumber, digestContent(args)),

    /**
     * Looks up the inquiry after an activity was lost or cancelled. An attempt that could still be claimed is closed, so
     * that a late claim loses.
     */
    closeAttempt: (args: CloseAttemptArgs) => {
      const { inquiry, attempt, begunAt, run } = args;
      const lost = { ledgerId: run.ledgerId, inquiry, attempt, begunAt };
      return ledger.closeAttempt({ ...lost, digest: digestContent(args), run: getCallingRun() });
    },

    /** Reads the newest attempt of all, and records the loss if a seen attempt is missing (docs/protocol.md). */
    lookAtLedger: ({ ledgerId, highWaterMark }: { ledgerId: string; highWaterMark?: HighWaterMark }) =>
      ledger.watch(ledgerId, highWaterMark),

    /** Closes a share's numbers in the ledger, unless one of its attempts may have been sent. */
    async recordShareWithdrawal({ ledgerId, withdrawal }: { ledgerId: string; withdrawal: ShareWithdrawal }) {
      await requireNewest(ledger, ledgerId);
      return ledger.withdrawShare(ledgerId, withdrawal);
    },

    /** Opens the row of a hold before the run waits for a decision about it. */
    openHold: ({ ledgerId, hold }: { ledgerId: string; hold: RunHold }) => ledger.tasks.openHold(ledgerId, hold),

    /** Opens or closes a flag that no transaction of the ledger can cause. */
    flagRun: ({ ledgerId, flag }: { ledgerId: string; flag: RunFlag }) => ledger.tasks.flag(ledgerId, flag),

    /** Closes what a run that ends leaves open, unless it still needs an operator. */
    closeWork: ({ ledgerId, ...ended }: { ledgerId: string; runKey: string; until: string }) =>
      ledger.tasks.close(ledgerId, ended),

    /** Records operators' decisions about the calling run before they take effect. */
    async recordRunDecisions({ ledgerId, decisions }: { ledgerId: string; decisions: RunDecision[] }) {
      await requireNewest(ledger, ledgerId);
      await ledger.recordRunDecisions(ledgerId, decisions);
    },

    /** Records an outcome that `submitInquiry` could not record. */
    recordOutcome: ({ refusal, ...record }: CarriedOutcome) => ledger.recordOutcome(record, undefined, refusal),
  });
}

/**
 * Creates the activities that judge decisions by their inquiry's profile as this worker has it, and then record them.
 * Each is idempotent, so Temporal may repeat it without limit.
 *
 * @throws `LedgerUnavailable`, and `ActivityFailed` while the keys of decisions cannot be read or this worker lacks the
 *   profile (repeated); `LedgerChanged` (final)
 */
export function createDecisionActivities(dependencies: ActivityDependencies) {
  const { ledger, checkDecisionProof } = dependencies;

  const judgeProof = (profile: string, decision: Parameters<DecisionProofVerifier>[0]) =>
    checkDecisionProof(decision, findPreparedProfile(dependencies, profile).decisionTrust);

  async function record(args: RecordDecisionArgs): Promise<DecisionVerdict> {
    const { ledgerId, inquiry, proof, applicants } = args;
    // A run cannot declare its own decision proven.
    const { provenBy: _, ...decision }: UnprovenDecision & { provenBy?: unknown } = args.decision;
    if (decision.action === 'amend' && applicants) {
      const profile = findPreparedProfile(dependencies, inquiry.profile);
      const problems = listApplicantProblems(profile, inquiry.productCode, applicants);
      if (problems.length > 0) {
        const reason = selectShownProblems(problems).map(formatProblem).join('; ');
        return { kind: 'refused', cause: 'notNow', reason };
      }
    }
    const verdict = await judgeProof(inquiry.profile, {
      content: toProvedContent(args),
      proof,
      receivedAt: decision.decidedAt,
    });
    if (!verdict.accepted) return { kind: 'refused', cause: 'unproven', reason: `/proof ${verdict.rule}` };
    const { keyId } = verdict;
    await requireNewest(ledger, ledgerId);
    const proven = keyId === undefined ? decision : { ...decision, provenBy: keyId };
    return ledger.recordDecision(ledgerId, inquiry, proven, getCallingRun());
  }

  return translateErrors({
    /**
     * Refuses, without asking the ledger, applicants that break the interface's table, a bad proof, and a missing one if
     * the inquiry's profile requires it.
     */
    recordDecision: record,

    /** Checks a repeat's proof as of `receivedAt`, before the repeat is accepted. Fails as `InvalidInput`. */
    checkRepeatProof: async (args: { profile: string; message: RepeatStageMessage; receivedAt: string }) => {
      const { profile, message, receivedAt } = args;
      const content = repeatContent(ledger.identity.environment, message);
      const verdict = await judgeProof(profile, { content, proof: message.proof, receivedAt });
      if (!verdict.accepted) throw new InvalidInputError([{ path: '/proof', rule: verdict.rule }]);
    },
  });
}

/** The content that a decision's proof must have signed, made from the very record to be written. */
function toProvedContent({ inquiry, decision, occurrence = 0, applicants }: RecordDecisionArgs) {
  const { environment } = inquiry;
  const { by, reason, action, answer } = decision;
  if (action === 'repeat') {
    const repeat = inquiry.productCode as StageCode;
    return repeatContent(environment, { journeyId: inquiry.runKey, repeat, occurrence, by, reason, applicants });
  }
  const { outcome, reference } = answer?.kind === 'outcome' ? answer : {};
  return decisionContent(environment, { ...decision, action, outcome, reference, applicants });
}
