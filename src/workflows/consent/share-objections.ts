/** How a run takes the ledger's objection to one of its shares: its own book of consents then says the same. */
import type { GrantFault, ShareObjection } from '../../consent/consent-record.ts';
import { refuseMessage } from '../run/message-answers.ts';
import type { ConsentHost } from './consent-run.ts';
import type { ShareRecord } from './share-record.ts';

/** Under `refusedMessages`; a refusal by the consumer shows by itself, as the share's end. */
const WORDS: Record<Exclude<GrantFault, 'refused'>, string> = {
  tooOld: 'the grant is too old for this share: a new one is needed',
  spent: 'another share was posted under this grant: a new one is needed',
  missing: 'the grant is not for this share and its secondary user',
};

export function heed(
  host: Pick<ConsentHost, 'consents' | 'recorder' | 'refuse'>,
  share: ShareRecord,
  { reportGone, grants, standing }: ShareObjection,
): void {
  const { shareId } = share.input;
  if (reportGone) share.reportIsGone = true;
  for (const refusal of host.consents.heed(shareId, standing)) host.recorder.noteRecorded(refusal);
  for (const { applicantId, consentId, fault } of grants) {
    host.consents.fault({ shareId, applicantId, consentId }, fault);
    if (fault !== 'refused') refuseMessage(host, 'consent', WORDS[fault], consentId);
  }
}
