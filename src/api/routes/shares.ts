/** Shares by themselves: started, read, listed, taken back. Their consents: consents.ts; decisions: decisions.ts. */
import { z } from 'zod';
import { extendShareReport } from '../../messages/extend.ts';
import { type ShareReportInput, shareReport } from '../../messages/inputs/share-report.ts';
import { shareReportResultSchema, shareReportStatusSchema } from '../../messages/share/shapes.ts';
import { withdrawShareReport } from '../../messages/withdraw.ts';
import { toRunKey } from '../../model/run-key.ts';
import { type RequiredReach, readRequiredReach } from '../reach.ts';
import type { Call, Route } from '../route.ts';
import { createRunRoutes } from './runs.ts';

export const shareRoutes: readonly Route[] = createRunRoutes<ShareReportInput>({
  kind: 'share',
  path: '/v1/shares',
  name: 'Share',
  words: ['a share by itself', 'shares by themselves'],
  reads: 'shares:read',
  status: shareReportStatusSchema,
  result: { schema: z.object(shareReportResultSchema.shape).meta({ id: 'shareReportResult' }) },
  start: {
    summary: 'Share a report by itself, once every applicant consents',
    description:
      'The input names a report of the ledger, or contains one in full. The same start, sent again, starts nothing new. Consents go to ' +
      '`/v1/consents`, with `share:<shareId>` as `journeyId`.',
    scope: 'shares:request',
    body: shareReport.schema(),
    findDefinition: () => shareReport,
    findNewRunsReach: findShareReach,
  },
  messages: [
    {
      message: extendShareReport,
      summary: 'Extend the wait for consent while it lasts',
      scope: 'shares:request',
    },
    {
      message: withdrawShareReport,
      path: '/withdrawal',
      operationId: 'withdrawShareReport',
      summary: 'Withdraw a share by itself after any attempt in flight',
      description: '`recorded` says whether the ledger already forbids any attempt to send it.',
      scope: 'shares:withdraw',
      ends: 'withdraw',
    },
  ],
});

/**
 * Finds the reach that the share requires, from its report. If the report is unknown or foreign, only callers who reach
 * everything see the share.
 */
async function findShareReach({ services }: Pick<Call, 'services'>, input: ShareReportInput): Promise<RequiredReach> {
  const { profiles } = readRequiredReach(input);
  const { report } = input;
  if ('reference' in report) return { profiles, endUsers: [report.endUserCode] };
  const source = await services.findRequiredReach(
    'pullId' in report ? toRunKey('pull', report.pullId) : report.journeyId,
  );
  return { profiles: [...new Set([...profiles, ...(source?.profiles ?? [])])], endUsers: source?.endUsers ?? null };
}
