/** Everything that needs a person as one list: holds, what came too late, reviews, events and consents. */

import type { OpenDeliveries } from '../../client/holds/webhook-deliveries.ts';
import type { OpenHold, OpenHolds, UnmatchedConsent } from '../../client.ts';
import { LASTING_FLAGS } from '../../model/inquiry.ts';
import { ownerIdOfWorkflow, ownerOf } from '../../model/owner-id.ts';
import type { FailingRun } from '../../temporal/failing-runs.ts';
import { type ListedWork, listHold } from '../output/hold-lines.ts';

/**
 * - `hold`: an open run waits for a decision
 * - `left`: an inquiry of unknown outcome whose run is gone
 * - `look`: it came too late; no run waits for it
 * - `run`: an open run says that it needs a person, such as a review without its files
 * - `stuck`: the workflow tasks of an open run fail, so that it stands still
 * - `event`: an event was given up
 * - `consent`: it matches nothing that the ledger knows
 */
export type AttentionKind = 'hold' | 'left' | 'look' | 'run' | 'stuck' | 'event' | 'consent';

export interface Attention extends ListedWork {
  kind: AttentionKind;
}

const UNMATCHED_WORDS: Readonly<Record<UnmatchedConsent['unmatched'], string>> = {
  journey: 'no such run',
  share: 'no such share of it',
  applicant: 'no such applicant of it',
};

/** The oldest first; what has no known beginning before the others. */
export function attentionList(
  { holds, attention, failing, unmatchedConsents }: Omit<OpenHolds, 'unanswered'>,
  deliveries: OpenDeliveries['deliveries'],
): Attention[] {
  const all = [
    ...holds.map(ofHold),
    ...attention.map(
      ({ journeyId, reason }): Attention => ({
        ...{ kind: 'run', journeyId, reason },
        command:
          ownerOf(journeyId).kind === 'portfolio' && LASTING_FLAGS.includes(reason)
            ? `credit-journey holds --seen-run ${journeyId} --by <name> --reason <why>`
            : `credit-journey status ${journeyId}`,
      }),
    ),
    ...(failing ?? []).map(ofFailingRun),
    ...deliveries.flatMap(ofDelivery),
    ...unmatchedConsents.map(ofConsent),
  ];
  return all.sort((one, other) => Date.parse(one.since ?? '1970') - Date.parse(other.since ?? '1970'));
}

function ofHold(hold: OpenHold): Attention {
  const kind: AttentionKind = hold.attempt === undefined ? 'look' : hold.heldBy === 'run' ? 'hold' : 'left';
  return { ...listHold(hold), kind };
}

/** The history has the failure of each of its tasks. */
function ofFailingRun({ workflowId, cause }: FailingRun): Attention {
  return {
    ...{ kind: 'stuck', journeyId: ownerIdOfWorkflow(workflowId) ?? workflowId, reason: 'its tasks fail' },
    detail: `${cause ?? 'no cause is known'}; docs/runbook/workflow-tasks-fail.md`,
    command: `temporal workflow describe --workflow-id ${workflowId}`,
  };
}

/** One for each endpoint: each is mended, and sent to again, by itself. */
function ofDelivery({ journeyId, endpoints }: OpenDeliveries['deliveries'][number]): Attention[] {
  return endpoints.flatMap(({ endpoint, failed }) => {
    const [first] = failed;
    const last = failed.at(-1);
    if (!first || !last) return [];
    const answered = last.httpStatus === undefined ? '' : ` ${last.httpStatus}`;
    const count = failed.length === 1 ? '1 event' : `${failed.length} events`;
    return [
      {
        ...{ kind: 'event', journeyId, reason: `${last.failureType}${answered}`, since: first.failedAt },
        detail: `${count} to the endpoint ${endpoint}`,
        command: `credit-journey webhooks resend ${journeyId} --endpoint ${endpoint}`,
      },
    ];
  });
}

/** Starting the run, or requesting the share, takes it off as well. */
function ofConsent({
  journeyId,
  unmatched,
  since,
  consentId,
  decision,
  applicantId,
  shareId,
}: UnmatchedConsent): Attention {
  return {
    ...{ kind: 'consent', journeyId, reason: UNMATCHED_WORDS[unmatched], since },
    detail: `${consentId}: ${decision} by ${applicantId} for share ${shareId}`,
    command: `credit-journey holds --seen-consents ${journeyId} --by <name> --reason <why>`,
  };
}
