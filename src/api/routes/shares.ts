/** Shares by themselves: started, read, listed, taken back. Their consents: consents.ts; decisions: decisions.ts. */
import { z } from 'zod';
import { extendShareReport } from '../../messages/extend.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { type ShareReportInput, shareReport } from '../../messages/inputs/share-report.ts';
import { shareReportResultSchema, shareReportStatusSchema } from '../../messages/share/shapes.ts';
import { withdrawShareReport } from '../../messages/withdraw.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import type { RunScope } from '../caller.ts';
import { listQuery, listRuns, runListSchema } from '../lists/runs.ts';
import { endingReply, messageAnswerSchema, messageReply } from '../message-answers.ts';
import { type Call, type Reply, type Route, route } from '../route.ts';
import { scopeOfInput } from '../run-scope.ts';
import { STATUS_HEADERS, statusReply } from '../status/status-replies.ts';
import { resultOf } from './results.ts';
import { START_PROBLEMS, startAnswers, startReply, startWithinReach } from './starting.ts';

const resultSchema = z.object(shareReportResultSchema.shape).meta({ id: 'shareReportResult' });

const shareOf = ({ shareId }: { shareId: string }) => ownerIdOf('share', shareId);

const accepted = { 200: { description: 'It was accepted, now or before.', schema: messageAnswerSchema } } as const;
const problems = {
  409: 'As the share stands it does not take the message; the code says why. `journeyFinished`: it has ended.',
} as const;

export const shareRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/shares',
    operationId: 'startShare',
    summary: 'Share a report by itself, once every applicant consents',
    description:
      'A report of the ledger, or one given in full. Repeated with the same input it starts nothing. Consents go to ' +
      '`/v1/consents`, with `share:<shareId>` as `journeyId`.',
    scope: 'shares:request',
    body: shareReport.schema().meta({ id: 'startShare' }),
    answers: startAnswers('shareId', 'startedShare'),
    problems: START_PROBLEMS,
    async handle(call) {
      const { services, body, noted } = call;
      const input = parseMessage(shareReport, body);
      const { shareId } = input;
      noted({ journeyId: shareOf(input) });
      const isNew = await startWithinReach(call, {
        ownerId: shareOf(input),
        scope: await scopeOfShare(call, input),
        profile: input.profile,
        start: () => services.journeys.shareReport(input, { ...call.sending }),
      });
      return startReply(`/v1/shares/${shareId}`, { shareId, isNew });
    },
  }),
  route({
    method: 'GET',
    path: '/v1/shares',
    operationId: 'listShares',
    summary: 'Shares by themselves: those that run first, then those that ended last',
    description: 'By visibility, which may lag by a second.',
    scope: 'shares:read',
    query: listQuery,
    answers: { 200: { description: 'One page.', schema: runListSchema } },
    async handle(call): Promise<Reply<200>> {
      const page = await listRuns(call, 'share');
      call.noted({ count: page.data.length });
      return { status: 200, body: page };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/shares/{shareId}',
    operationId: 'getShare',
    summary: 'Where a share by itself stands',
    description: 'Nothing personal.',
    scope: 'shares:read',
    about: shareOf,
    headers: STATUS_HEADERS,
    answers: {
      200: { description: 'The status.', schema: shareReportStatusSchema, headers: { ETag: 'Of this status.' } },
      304: { description: 'It is still as If-None-Match says.' },
    },
    handle: (call) => {
      call.noted({ journeyId: shareOf(call.params) });
      return statusReply(call, call.services.journeys.getShare(call.params.shareId));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/shares/{shareId}/result',
    operationId: 'getShareResult',
    summary: 'What came of a share by itself',
    scope: 'shares:read',
    about: shareOf,
    answers: { 200: { description: 'It has ended.', schema: resultSchema } },
    problems: {
      409: '`resultNotReady`: it has not ended yet. `runFailed`: it ended without a result; `problems` says what was wrong with its input.',
    },
    async handle({ services, params, noted, signal }): Promise<Reply<200>> {
      noted({ journeyId: shareOf(params) });
      return { status: 200, body: await resultOf(services, services.journeys.getShare(params.shareId), signal) };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/shares/{shareId}/extend',
    operationId: 'extendShare',
    summary: 'Make the wait for consent longer while it lasts',
    scope: 'shares:request',
    about: shareOf,
    body: extendShareReport.schema().omit({ shareId: true, by: true }).meta({ id: 'extendShare' }),
    answers: accepted,
    problems,
    async handle({ services, params, body, by, noted, sending }) {
      noted({ journeyId: shareOf(params) });
      const message = { ...body, by: by() } as { by: string; reason: string; until: string };
      return messageReply(await services.journeys.getShare(params.shareId).extend(message, sending));
    },
  }),
  route({
    method: 'POST',
    path: '/v1/shares/{shareId}/withdrawal',
    operationId: 'withdrawShareReport',
    summary: 'Take a share by itself back, after any attempt in flight',
    description: '`recorded` says whether the ledger keeps it from ever being sent already.',
    scope: 'shares:withdraw',
    about: shareOf,
    body: withdrawShareReport.schema().omit({ shareId: true, by: true }).meta({ id: 'withdrawShareReport' }),
    answers: accepted,
    problems,
    async handle(call) {
      const { services, params, body, by, noted, sending } = call;
      const [ownerId, { shareId }] = [shareOf(params), params];
      noted({ journeyId: ownerId });
      const message = { ...body, by: by() } as { by: string; reason: string };
      return endingReply(call, { ...message, ownerId, shareId, action: 'withdraw' }, () =>
        services.journeys.getShare(shareId).withdraw(message, sending),
      );
    },
  }),
];

/** By whom its report is for. A report that nobody knows, or that is another's, is for callers who reach everything. */
async function scopeOfShare({ services }: Pick<Call, 'services'>, input: ShareReportInput): Promise<RunScope> {
  const { profiles } = scopeOfInput(input);
  const { report } = input;
  if ('reference' in report) return { profiles, endUsers: [report.endUserCode] };
  const source = await services.runScope('pullId' in report ? ownerIdOf('pull', report.pullId) : report.journeyId);
  return { profiles: [...new Set([...profiles, ...(source?.profiles ?? [])])], endUsers: source?.endUsers ?? null };
}
