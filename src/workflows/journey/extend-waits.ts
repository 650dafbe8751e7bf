/** What `extend` may do as a journey stands: make the wait at its gate, or of a share for consent, longer. No waiting. */
import type { ExtendMessage } from '../../messages/journey/shapes.ts';
import type { ShareRecord } from '../consent/share-record.ts';
import type { Extension } from '../run/extensions.ts';
import { extensionId } from '../run/run-decisions.ts';
import type { Journey } from './journey.ts';

/** Why the message makes no sense as things stand, or `null`; also where the same was accepted before. */
export function extendObjection(journey: Journey, { journeyId: _, ...message }: ExtendMessage): string | null {
  const asked = journey.decided.objection([extensionId(message)], message);
  return asked === undefined ? extensionObjection(journey, message) : asked;
}

/** The same, of one that the ledger has. */
export function extensionObjection(journey: Journey, message: Extension): string | null {
  return journey.extensions.objection(message, journey.isEnding ? undefined : endOfWait(journey, message));
}

/** Takes a message that `extendObjection` has nothing against; `false` where the same was taken before. */
export function takeExtension(journey: Journey, { journeyId: _, ...message }: ExtendMessage): boolean {
  const until = journey.extensions.take(message);
  if (until === undefined) return false;
  const { gate, shareId } = message;
  const share = waitingShare(journey, shareId);
  if (share) share.until = until;
  else journey.gateTimes = { ...journey.gateTimes, until };
  const which = { ...(gate === undefined ? {} : { gate }), ...(shareId === undefined ? {} : { shareId }) };
  journey.events.emit('wait.extended', [gate ?? '', shareId ?? '', until], { ...which, until });
  return true;
}

function endOfWait(journey: Journey, { gate, shareId }: Pick<ExtendMessage, 'gate' | 'shareId'>): string | undefined {
  if (shareId !== undefined) return waitingShare(journey, shareId)?.until;
  return journey.gate === gate ? journey.gateTimes.until : undefined;
}

/** Only while its report is there: before that nothing runs out. */
function waitingShare(journey: Journey, shareId: string | undefined): ShareRecord | undefined {
  const share = shareId === undefined ? undefined : journey.shares.get(shareId);
  return share?.state === 'awaitingConsent' && share.until !== undefined ? share : undefined;
}
