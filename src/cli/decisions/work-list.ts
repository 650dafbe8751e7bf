/** Lists all work for operators together: rows of the ledger, runs that make no progress, events and consents. */
import type { UnmatchedConsent } from '../../ledger/audit/audited.ts';
import { runKeyFromWorkflowId } from '../../model/run-key.ts';
import type { OpenHold, OtherWork } from '../../operator/open-work.ts';
import type { FailingRun } from '../../temporal/failing-runs.ts';
import { reasonWords } from '../../words/holds.ts';
import { type ListedWork, listHold } from '../output/hold-lines.ts';

/**
 * - `hold`: an inquiry waits for a decision
 * - `look`: an inquiry was flagged; nothing waits for it
 * - `run`: a run as a whole was flagged (such as a review without its files), or needs an operator without a row
 * - `stuck`: the workflow tasks of an open run fail, so that it makes no progress
 * - `event`: an event was given up
 * - `consent`: it matches nothing that the ledger knows
 */
type AttentionKind = 'hold' | 'look' | 'run' | 'stuck' | 'event' | 'consent';

interface ListedAttention extends ListedWork {
  kind: AttentionKind;
}

const UNMATCHED_WORDS: Readonly<Record<UnmatchedConsent['unmatched'], string>> = {
  journey: 'no such run',
  share: 'no such share of it',
  applicant: 'no such applicant of it',
};

/** Sorts the oldest first. Work without a known beginning precedes the rest. */
export function listWork(holds: readonly OpenHold[], others: OtherWork): ListedAttention[] {
  const all = [
    ...holds.map(ofHold),
    ...others.unlisted.map(ofUnlisted),
    ...(others.failing ?? []).map(ofFailingRun),
    ...others.deliveries.flatMap(ofDelivery),
    ...others.unmatchedConsents.map(ofConsent),
  ];
  return all.sort((a, b) => Date.parse(a.since ?? '1970') - Date.parse(b.since ?? '1970'));
}

function ofHold(hold: OpenHold): ListedAttention {
  const { kind, customerTraceNumber } = hold;
  const own: AttentionKind = kind === 'held' ? 'hold' : customerTraceNumber === undefined ? 'run' : 'look';
  return { kind: own, ...listHold(hold) };
}

/** Only the run says what it waits for. */
function ofUnlisted({ runKey, reason }: OtherWork['unlisted'][number]): ListedAttention {
  return {
    ...{ kind: 'run', runKey, reason: reasonWords(reason) },
    detail: 'the ledger has no row of it yet, or is not the one that the run has used',
    command: `credit-journey status ${runKey}`,
  };
}

/** The history has the failure of each of its tasks. */
function ofFailingRun({ workflowId, cause }: FailingRun): ListedAttention {
  return {
    ...{ kind: 'stuck', runKey: runKeyFromWorkflowId(workflowId) ?? workflowId, reason: 'its tasks fail' },
    detail: `${cause ?? 'no cause is known'}; docs/runbook/workflow-tasks-fail.md`,
    command: `temporal workflow describe --workflow-id ${workflowId}`,
  };
}

/** Lists endpoints separately: an operator mends each, and sends to it again, by itself. */
function ofDelivery({ runKey, endpoints }: OtherWork['deliveries'][number]): ListedAttention[] {
  return endpoints.flatMap(({ endpoint, failed }) => {
    const [first] = failed;
    const last = failed.at(-1);
    if (!first || !last) return [];
    const answered = last.httpStatus === undefined ? '' : ` ${last.httpStatus}`;
    const count = failed.length === 1 ? '1 event' : `${failed.length} events`;
    return [
      {
        ...{ kind: 'event', runKey, reason: `${last.failureType}${answered}`, since: first.failedAt },
        detail: `${count} to the endpoint ${endpoint}`,
        command: `credit-journey webhooks resend ${runKey} --endpoint ${endpoint}`,
      },
    ];
  });
}

/** Starting the run, or requesting the share, takes it off as well. */
function ofConsent({
  runKey,
  unmatched,
  since,
  consentId,
  decision,
  applicantId,
  shareId,
}: UnmatchedConsent): ListedAttention {
  return {
    ...{ kind: 'consent', runKey, reason: UNMATCHED_WORDS[unmatched], since },
    detail: `${consentId}: ${decision} by ${applicantId} for share ${shareId}`,
    command: `credit-journey seen consents --run-key ${runKey} --by <name> --reason <why>`,
  };
}
