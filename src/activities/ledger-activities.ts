import { sealedRefusal } from '../ledger/carried-refusal.ts';
import { requestDigests } from '../ledger/request-digests.ts';
import type { JourneyActivities } from './contract.ts';
import { type ActivityDependencies, callingRun } from './dependencies.ts';
import { translating } from './failures.ts';
import { contentAsSent } from './inquiry-request.ts';

/**
 * Activities that only read or write the ledger: each is idempotent, so Temporal may repeat it without limit. None of
 * them needs a gateway profile or judges the request, so that any worker can say what the ledger has of it.
 *
 * @throws `LedgerUnavailable` (repeated), `LedgerChanged` (final), `RequestDiffers` (final).
 */
export function createLedgerActivities({
  ledger,
}: Pick<ActivityDependencies, 'ledger'>): Pick<
  JourneyActivities,
  | 'lookUpInquiry'
  | 'closeAttempt'
  | 'lookAtLedger'
  | 'recordOutcome'
  | 'recordShareWithdrawal'
  | 'noteWork'
  | 'recordRunDecisions'
> {
  return {
    lookUpInquiry: ({ run, ...content }) =>
      translating(() =>
        ledger.lookUp(
          run.ledgerId,
          content.inquiry.customerTraceNumber,
          requestDigests(ledger, contentAsSent(run, content)),
        ),
      ),

    closeAttempt: ({ run, attempt, begunAt, ...content }) =>
      translating(() => {
        const digests = requestDigests(ledger, contentAsSent(run, content));
        return ledger.closeAttempt({
          ledgerId: run.ledgerId,
          inquiry: content.inquiry,
          attempt,
          digests,
          run: callingRun(),
          begunAt,
        });
      }),

    lookAtLedger: ({ ledgerId, seen }) => translating(() => ledger.watch(ledgerId, seen)),

    recordShareWithdrawal: ({ ledgerId, withdrawal }) => translating(() => ledger.withdrawShare(ledgerId, withdrawal)),

    noteWork: ({ ledgerId, note }) => translating(() => ledger.work.note(ledgerId, note)),

    recordRunDecisions: ({ ledgerId, decisions }) => translating(() => ledger.recordRunDecisions(ledgerId, decisions)),

    recordOutcome: ({ refusal, ...record }) =>
      translating(() => ledger.recordOutcome(record, undefined, refusal && sealedRefusal(refusal))),
  };
}
