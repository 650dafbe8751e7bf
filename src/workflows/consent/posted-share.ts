/** A share after its posting: what the run tells about it, and a refusal that comes too late. */
import type { EventsOut } from '../run/events-out.ts';
import type { Consent } from './share-consent.ts';
import type { ShareRecord } from './share-record.ts';

export const DEFAULT_AWAIT_CONSENT_FOR = 'P30D';

export function tellPosted(
  { events }: { events: Pick<EventsOut, 'emit'> },
  posted: { shareId: string; customerTraceNumber?: string },
): void {
  events.emit('share.posted', [posted.shareId], posted);
}

/** A refusal that came while the attempt was on the wire changes nothing at the gateway: a person must see it. */
export function noteRefusalAfterPosting(journey: { publish(): void }, share: ShareRecord, consent: Consent): void {
  if (share.state !== 'posted' || (consent.kind !== 'revoked' && consent.kind !== 'denied')) return;
  share.attention = 'revokedAfterPosting';
  journey.publish();
}
