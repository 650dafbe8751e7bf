/** The current details of a share by itself, as Markdown for the Temporal UI; what journeys have in current-details.ts. */

import type { ShareReportState } from '../../messages/share/shapes.ts';
import { shareStanding } from '../../messages/standing-words.ts';
import { endingSentence } from '../../model/hold-guide.ts';
import { nameOfUser } from '../../model/secondary-user.ts';
import {
  attemptWords,
  ending,
  refusedMessages,
  resetTerminateCancel,
  revokedLine,
  uncheckedDetails,
} from '../details/current-details.ts';
import { holdSection } from '../details/hold-details.ts';
import { code, listLine, MARKDOWN, plain } from '../details/markdown.ts';
import { consentSection, takeBackSection } from '../details/next-step.ts';
import type { ReportShare } from './report-share.ts';

/** Nothing personal is in it. */
export function shareReportDetails(share: ReportShare): string {
  const { run } = share;
  if (!run) return uncheckedDetails(share);
  const { ownerId, isEnding, endUserCode } = share;
  const status = share.status();
  const isOver = share.endedAs !== undefined || share.outcome !== undefined;
  const [hold] = share.holds.view.filter(({ isDecided }) => !isDecided);
  const { customerId, runbookUrl } = run;
  const side = { customerId, endUserCode, runbookUrl };
  const [applicantId] = status.consentsMissing;
  return [
    `**${sentence(share, hold)}**${isEnding && !isOver ? ` ${endingSentence('share')}` : ''}`,
    ...(hold ? [holdSection(hold, { ownerId, run: side, isEnding })] : []),
    ...(applicantId === undefined || isEnding
      ? []
      : [
          consentSection({
            ...{ journeyId: ownerId, shareId: share.shareId, applicantId },
            secondaryUser: share.sharedWith,
          }),
          takeBackSection({ shareId: share.shareId }),
        ]),
    ...(status.attention === undefined
      ? []
      : [revokedLine(`trace number ${code(status.customerTraceNumber)}`, runbookUrl)]),
    listLine(reportWords(status.report), [
      `with ${plain(nameOfUser(share.input))}`,
      status.state,
      status.consentsMissing.length === 0 ? '' : `consent missing: ${status.consentsMissing.map(plain).join(', ')}`,
      attemptWords(status.attempts),
      code(status.customerTraceNumber),
      ending(status.reportReferenceNumber),
    ]),
    refusedMessages({ status }),
    ...(isOver ? [] : [resetTerminateCancel('share')]),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function reportWords(report: ReturnType<ReportShare['status']>['report']): string {
  if (!report) return 'Report';
  return report.kind === 'given'
    ? 'Report that was given in full'
    : `${plain(report.productCode)} of ${plain(report.ownerId)}`;
}

function sentence(share: ReportShare, hold: ReportShare['holds']['view'][number] | undefined): string {
  const { outcome, endedAs, holds, inquiry } = share;
  const told = share.status();
  const state: ShareReportState = endedAs ?? outcome ?? (told.state === 'waitingForConsent' ? told.state : 'running');
  const status = { ...told, state, attempts: inquiry.attempts };
  return shareStanding({ status, hold, holds: holds.list.length, retry: inquiry.waitingFor }, MARKDOWN);
}
