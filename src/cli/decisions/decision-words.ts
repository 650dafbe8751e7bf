/** What a decision will do, in words, before it is taken. */
import type { OpenHold } from '../../client.ts';
import { isFailureType } from '../../model/failure-types.ts';
import { ATTEMPT_STATE_OF_FAILURE } from '../../model/inquiry.ts';
import { ownerOf } from '../../model/owner-id.ts';
import type { DraftDecision, ResolveAction } from './decision-flags.ts';

/** A few words for a list to choose from. */
export function actionWords(action: ResolveAction, hold: OpenHold): string {
  switch (action) {
    case 'resend':
      return wasClaimed(hold)
        ? 'send it once more under the same trace number'
        : 'go on; the ledger decides whether anything is sent';
    case 'accept':
      return 'the provider says what came of it; go on with that';
    case 'amend':
      return 'a new inquiry with corrected applicants';
    case 'abandon':
      return 'give it up; nothing more is ever sent under it';
    case 'seen':
      return 'somebody has looked into it';
  }
}

/** What follows from the decision, as sentences. */
export function consequences(hold: OpenHold, decision: DraftDecision): string[] {
  const { attempt = 0, heldBy } = hold;
  const { action } = decision;
  switch (action) {
    case 'resend':
      return resendConsequences(hold);
    case 'accept': {
      const reference = decision.reference ? `, reference ${decision.reference.reportReferenceNumber}` : '';
      const run = runOf(hold);
      const who = heldBy === 'run' ? `The ${run} goes` : `A new start of the ${run} will go`;
      return [
        `${who} on as if attempt ${attempt} had been answered: ${decision.outcome}${reference}.`,
        'Nothing is sent.',
      ];
    }
    case 'amend':
      return [
        `A new inquiry is sent under a new trace number, with ${decision.applicants?.length ?? 0} applicants as given.`,
      ];
    case 'abandon':
      return [
        'Nothing more is ever sent under this trace number.',
        ...(heldBy === 'run' && hold.shareId === undefined ? [endOf(hold)] : []),
      ];
    case 'seen':
      return ['It is taken off the list of what needs a person. Nothing else changes.'];
    default:
      return [];
  }
}

function resendConsequences(hold: OpenHold): string[] {
  const { attempt = 0, reason, heldBy } = hold;
  if (!wasClaimed(hold))
    return [`The ${runOf(hold)} goes on with attempt ${attempt}; the ledger decides whether it is sent.`];
  const doubt =
    reason === 'OutcomeUnknown' ? ['If the provider is wrong, a second inquiry is posted on the consumer’s file.'] : [];
  const who = heldBy === 'run' ? 'The inquiry is sent' : `A new start of the ${runOf(hold)} may send the inquiry`;
  return [`${who} once more, as attempt ${attempt + 1} under the same trace number.`, ...doubt];
}

function wasClaimed({ reason }: OpenHold): boolean {
  return !isFailureType(reason) || ATTEMPT_STATE_OF_FAILURE[reason] !== null;
}

function runOf({ journeyId }: OpenHold): string {
  return ownerOf(journeyId).kind;
}

function endOf(hold: OpenHold): string {
  const { kind } = ownerOf(hold.journeyId);
  if (kind === 'journey') return 'The journey ends with this stage abandoned.';
  return kind === 'pull' ? 'The pull ends with it.' : 'The review goes on with its other rows.';
}
