/** Rules of `requestShare` for the journey's present state. No waiting. */
import type { RequestShareMessage } from '../../messages/request-share.ts';
import { type MessageRefusal, refuse, refuseDifference } from '../../model/refusals.ts';
import { listOwnUsers, OWN_END_USER } from '../../model/stage-end-user.ts';
import type { ShareRecord } from '../consent/share-record.ts';
import type { Journey } from './journey.ts';

const MAX_SHARES = 20;

/** Returns why the share makes no sense now, or `null`; also `null` if it is already known. */
export function checkShareRequest(journey: Journey, { share }: RequestShareMessage): MessageRefusal | null {
  const known = journey.shares.get(share.shareId);
  if (known) return refuseDifference('/share/shareId was used', { share: known.input }, { share });
  if (journey.isEnding || journey.isClosing) {
    return refuse('ending', 'the journey is ending: its report can be shared by itself after the end');
  }
  if (journey.shares.size >= MAX_SHARES) return refuse('notNow', `a journey has at most ${MAX_SHARES} shares`);
  const stages = journey.stages.map(({ status }) => status.productCode);
  if (
    share.endUserCode !== undefined &&
    listOwnUsers(journey.input, share.reportOf, stages).includes(share.endUserCode)
  ) {
    return refuse('notNow', `/share/endUserCode ${OWN_END_USER}`);
  }
  if (share.reportOf !== undefined && !journey.stage(share.reportOf)) {
    return refuse('unknownPart', '/share/reportOf names a stage that this journey leaves out');
  }
  if (share.permissiblePurposeCode === undefined && !journey.input.permissiblePurposeCodes?.SECONDUSE) {
    return refuse('notNow', '/share/permissiblePurposeCode is required: the journey has none for SECONDUSE');
  }
  return null;
}

export function requireShare(journey: Journey, shareId: string): ShareRecord {
  const share = journey.shares.get(shareId);
  if (!share) throw new Error('a share that its validator knew');
  return share;
}
