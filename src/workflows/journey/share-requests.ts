/** What `requestShare` may do as a journey stands. No waiting. */
import { differingPaths, otherContent } from '../../base/differing-paths.ts';
import type { ShareInput } from '../../messages/journey/shapes.ts';
import { OWN_END_USER, ownUsersOf } from '../../model/stage-end-user.ts';
import { FOR_ANOTHER_USER } from '../consent/consent-handlers.ts';
import { refuseMessage } from '../run/message-answers.ts';
import type { Journey } from './journey.ts';

const MAX_SHARES = 20;

/** Why the share makes no sense as things stand, or `null`; also where it is known already. */
export function shareObjection(journey: Journey, share: ShareInput): string | null {
  const known = journey.shares.get(share.shareId);
  if (known) {
    const differing = differingPaths({ share: known.input }, { share });
    return differing.length > 0 ? otherContent('/share/shareId was used', differing) : null;
  }
  if (journey.isEnding || journey.isClosing) return 'the journey is ending; a share of its own may follow';
  if (journey.shares.size >= MAX_SHARES) return `a journey has at most ${MAX_SHARES} shares`;
  const stages = journey.stages.map(({ status }) => status.productCode);
  if (
    share.endUserCode !== undefined &&
    ownUsersOf(journey.input, share.reportOf, stages).includes(share.endUserCode)
  ) {
    return `/share/endUserCode ${OWN_END_USER}`;
  }
  if (share.reportOf !== undefined && !journey.stage(share.reportOf)) {
    return '/share/reportOf names a stage that this journey leaves out';
  }
  if (share.permissiblePurposeCode === undefined && !journey.input.permissiblePurposeCodes?.SECONDUSE) {
    return '/share/permissiblePurposeCode is required: the journey has none for SECONDUSE';
  }
  return null;
}

/** Takes a share that `shareObjection` has nothing against; `false` where the same was taken before. */
export function takeShare(journey: Journey, share: ShareInput): boolean {
  if (journey.shares.has(share.shareId)) return false;
  for (const grant of journey.consents.dropMismatchedGrants(share.shareId, share)) {
    // Where its proof is still being checked, the handler that waits for the verdict reports the refusal.
    if (journey.checks.settle(grant, { counts: false, reason: FOR_ANOTHER_USER })) continue;
    refuseMessage(journey, 'consent', FOR_ANOTHER_USER, grant.consentId);
  }
  const isEarly = journey.consents.all().some(({ shareId }) => shareId === share.shareId);
  if (isEarly) journey.recorder.noteMatched(share.shareId);
  journey.addShare(share);
  return true;
}
