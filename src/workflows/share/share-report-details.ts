/** The current details of a share by itself, as Markdown for the Temporal UI; what journeys have in current-details.ts. */

import { SHARE_WORDS } from '../../messages/state-words.ts';
import { endingSentence } from '../../model/hold-guide.ts';
import { nameOfUser } from '../../model/secondary-user.ts';
import { ending, refusedMessages, resetTerminateCancel, revokedLine, UNCHECKED } from '../details/current-details.ts';
import { holdSection } from '../details/hold-details.ts';
import { code, markdownTable, plain, time } from '../details/markdown.ts';
import type { ReportShare } from './report-share.ts';

/** Nothing personal is in it. */
export function shareReportDetails(share: ReportShare): string {
  const { run } = share;
  if (!run) return UNCHECKED[share.endedUnchecked ? 'endedUnchecked' : 'beingChecked'];
  const { ownerId, isEnding, endUserCode } = share;
  const status = share.status();
  const isOver = share.endedAs !== undefined || share.outcome !== undefined;
  const [hold] = share.holds.view.filter(({ isDecided }) => !isDecided);
  const side = { customerId: run.customerId, endUserCode };
  return [
    `**${sentence(share, hold)}**${isEnding && !isOver ? ` ${endingSentence('share')}` : ''}`,
    markdownTable(
      ['Report', 'With', 'State', 'Consent missing', 'Attempts', 'Trace number', 'Reference'],
      [
        [
          reportCell(status.report),
          plain(nameOfUser(share.input)),
          status.state,
          status.consentsMissing.map(plain).join(', '),
          String(status.attempts),
          code(status.customerTraceNumber),
          ending(status.reportReferenceNumber),
        ],
      ],
    ),
    ...(status.attention === undefined ? [] : [revokedLine(`trace number ${code(status.customerTraceNumber)}`)]),
    ...(hold ? [holdSection(hold, { ownerId, run: side, isEnding })] : []),
    refusedMessages({ status }),
    ...(isOver ? [] : [resetTerminateCancel('share')]),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function reportCell(report: ReturnType<ReportShare['status']>['report']): string {
  if (!report) return '';
  return report.kind === 'given' ? 'given in full' : `${plain(report.productCode)} of ${plain(report.ownerId)}`;
}

function sentence(share: ReportShare, hold: ReportShare['holds']['view'][number] | undefined): string {
  const { outcome, endedAs, holds, inquiry } = share;
  const { state, waitingFor, until } = share.status();
  if (hold) {
    return `A person must decide about ${plain(hold.productCode)} (${hold.failureType}), since ${time(hold.since)}.`;
  }
  if (holds.list.length > 0) return 'A decision is being recorded.';
  const { end } = SHARE_WORDS[endedAs ?? outcome ?? 'running'];
  if (end) return end;
  if (state === 'waitingForConsent') {
    return `Waits for ${plain(waitingFor ?? 'consent')}, until ${time(until)}; silence means no.`;
  }
  const waiting = inquiry.waitingFor === undefined ? '' : `: ${plain(inquiry.waitingFor)}`;
  return `The share is being posted, attempts so far: ${inquiry.attempts}${waiting}.`;
}
