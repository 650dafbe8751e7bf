/** A run's status in words, at most 80 columns wide. Nothing personal is in a status. */

import { heldByRun } from '../../client/holds/open-hold.ts';
import type {
  AnsweredInquiry,
  HoldStatus,
  JourneyStatus,
  ShareStatus,
  StageStatus,
} from '../../messages/journey/shapes.ts';
import type { PortfolioStatus } from '../../messages/portfolio/shapes.ts';
import type { PullStatus } from '../../messages/pull/shapes.ts';
import type { ShareReportStatus } from '../../messages/share/shapes.ts';
import { JOURNEY_WORDS, PORTFOLIO_WORDS, PULL_WORDS, SHARE_WORDS } from '../../messages/state-words.ts';
import { inquiryWords } from '../../model/hold-guide.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import { problemWords } from '../../model/problems.ts';
import { resendRule } from '../../model/resend-rule.ts';
import { commandLines, resolveCommand } from './hold-lines.ts';
import { type Output, table, withAge, wrap } from './output.ts';

/** The status of a run of any kind. */
export type AnyStatus = JourneyStatus | PullStatus | ShareReportStatus | PortfolioStatus;

/** The owner's id of the run that it is about. */
export function ownerIdIn(status: AnyStatus): string {
  if ('reviewId' in status) return ownerIdOf('portfolio', status.reviewId);
  if ('pullId' in status) return ownerIdOf('pull', status.pullId);
  return 'shareId' in status ? ownerIdOf('share', status.shareId) : status.journeyId;
}

/** Whether a person has to act before the run goes on, or after it did. */
export function needsPerson(
  status: Pick<AnyStatus, 'state' | 'holds'> &
    Partial<Pick<JourneyStatus, 'shares' | 'stages'>> &
    Partial<Pick<PullStatus | ShareReportStatus | PortfolioStatus, 'attention'>>,
): boolean {
  const { state, holds, shares = [], stages = [], attention } = status;
  if (attention !== undefined) return true;
  return (
    state === 'held' || holds.length > 0 || [...stages, ...shares].some(({ attention }) => attention !== undefined)
  );
}

export function statusLines(status: AnyStatus, output: Pick<Output, 'colors' | 'width'>): string[] {
  if ('reviewId' in status) return reviewLines(status, output);
  if ('pullId' in status) return pullLines(status, output);
  return 'shareId' in status ? shareLines(status, output) : journeyLines(status, output);
}

function shareLines(status: ShareReportStatus, { colors, width }: Pick<Output, 'colors' | 'width'>): string[] {
  const { shareId, state, attempts, report, attention, reportReferenceNumber = '' } = status;
  const environment = status.environment === null ? '' : ` · ${status.environment}`;
  const waiting = status.waitingFor === undefined ? '' : ` · ${status.waitingFor}${untilWords(status.until)}`;
  const head = wrap(`Share ${shareId}${environment} · ${SHARE_WORDS[state].label}${waiting}`, width);
  return [
    ...head.map(needsPerson(status) ? colors.yellow : colors.bold),
    ...problemLines(status, width, '  '),
    ...table([['SECONDUSE', spaced(state), tries(attempts), reportReferenceNumber]], width, '  '),
    ...(report ? wrap(`of ${reportWords(report)}`, width, '  ') : []),
    ...(attention === undefined ? [] : wrap(spaced(attention), width, '  ')),
    ...section(
      'Needs a person',
      status.holds.flatMap((hold) => holdLines(ownerIdIn(status), hold, width)),
    ),
    ...refusedLines(status, width),
  ];
}

/** Of a wait that ends by itself. */
function untilWords(until: string | undefined): string {
  return until === undefined ? '' : `, until ${until}`;
}

function reportWords(report: NonNullable<ShareReportStatus['report']>): string {
  if (report.kind === 'given') return 'a report that was given in full: the ledger does not know it';
  return `the ${report.productCode} report of ${report.ownerId}, trace number ${report.customerTraceNumber}`;
}

function pullLines(status: PullStatus, { colors, width }: Pick<Output, 'colors' | 'width'>): string[] {
  const { pullId, productCode, state, attempts, attention, reportReferenceNumber = '' } = status;
  const environment = status.environment === null ? '' : ` · ${status.environment}`;
  const waiting = status.waitingFor === undefined ? '' : ` · ${status.waitingFor}`;
  const head = wrap(`Pull ${pullId}${environment} · ${PULL_WORDS[state].label}${waiting}`, width);
  return [
    ...head.map(needsPerson(status) ? colors.yellow : colors.bold),
    ...problemLines(status, width, '  '),
    ...table([[productCode, spaced(state), tries(attempts), reportReferenceNumber]], width, '  '),
    ...answerLines(status, width),
    ...(attention === undefined ? [] : wrap(spaced(attention), width, '  ')),
    ...section(
      'Needs a person',
      status.holds.flatMap((hold) => holdLines(ownerIdIn(status), hold, width)),
    ),
    ...refusedLines(status, width),
  ];
}

/** Of many holds the first; `credit-journey holds` has all. */
const REVIEW_HOLDS_SHOWN = 3;

function reviewLines(status: PortfolioStatus, { colors, width }: Pick<Output, 'colors' | 'width'>): string[] {
  const { reviewId, state, file, progress, holds } = status;
  const environment = status.environment === null ? '' : ` · ${status.environment}`;
  const waiting = status.waitingFor === undefined ? '' : ` · waits for ${status.waitingFor}`;
  const head = wrap(`Portfolio ${reviewId}${environment} · ${PORTFOLIO_WORDS[state].label}${waiting}`, width);
  const { rows, badRows, done, record, noRecord, noReport, abandoned, held, underWay, flagged = 0 } = progress;
  const percent = rows === 0 ? '' : ` (${Math.floor((100 * done) / rows)} %)`;
  const { rowsPerSecond, secondsLeft } = progress;
  const pace = rowsPerSecond === undefined ? '' : `${rowsPerSecond} a second, ${timeLeft(secondsLeft ?? 0)} left`;
  return [
    ...head.map(needsPerson(status) ? colors.yellow : colors.bold),
    ...problemLines(status, width, '  '),
    ...table(
      [
        ['file', file],
        ['done', `${done} of ${rows}${percent}`],
        ['answered', `${record} with a record, ${noRecord} without, ${noReport} without a report`],
        ...(abandoned > 0 ? [['given up', String(abandoned)]] : []),
        ...(badRows > 0 ? [['bad rows', `${badRows}, in the bad rows’ report`]] : []),
        ...(flagged > 0 ? [['to look at', `${flagged}, with another SSN in the report: see the result file`]] : []),
        ['held', String(held)],
        ['under way', String(underWay)],
        ...(pace === '' ? [] : [['pace', pace]]),
      ],
      width,
      '  ',
    ),
    ...section(
      holds.length > REVIEW_HOLDS_SHOWN
        ? `Needs a person (the first ${REVIEW_HOLDS_SHOWN} of ${holds.length})`
        : 'Needs a person',
      holds.slice(0, REVIEW_HOLDS_SHOWN).flatMap((hold) => holdLines(ownerIdIn(status), hold, width)),
    ),
    ...refusedLines(status, width),
  ];
}

function timeLeft(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 6) / 10} h`;
}

function journeyLines(status: JourneyStatus, { colors, width }: Pick<Output, 'colors' | 'width'>): string[] {
  const environment = status.environment === null ? '' : ` · ${status.environment}`;
  const { waitingFor, waitingUntil } = status;
  const waiting = waitingFor === undefined ? '' : ` · ${waitingFor}${untilWords(waitingUntil)}`;
  const head = wrap(
    `Journey ${status.journeyId}${environment} · ${JOURNEY_WORDS[status.state].label}${waiting}`,
    width,
  );
  return [
    ...head.map(needsPerson(status) ? colors.yellow : colors.bold),
    ...problemLines(status, width, '  '),
    ...table(status.stages.map(stageRow), width, '  '),
    ...status.stages.flatMap((stage) => [...answerLines(stage, width), ...changeLines(stage, width)]),
    ...tooOldLines(status, width),
    ...section('Shares', table(status.shares.map(shareRow), width, '  ')),
    ...earlyLines(status, width),
    ...section(
      'Needs a person',
      status.holds.flatMap((hold) => holdLines(status.journeyId, hold, width)),
    ),
    ...refusedLines(status, width),
  ];
}

function earlyLines({ earlyConsents: early }: JourneyStatus, width: number): string[] {
  if (!early) return [];
  const more = early.count === 1 ? '' : ` (${early.count} consents)`;
  const words = `Consent is kept for shares that nobody has requested: ${early.shareIds.join(', ')}${more}`;
  return wrap(words, width);
}

function tooOldLines({ journeyId, reportTooOld, stages, waitingFor }: JourneyStatus, width: number): string[] {
  if (reportTooOld === undefined) return [];
  const next = (stages.findLast(({ productCode }) => productCode === reportTooOld)?.occurrence ?? 1) + 1;
  const advance = `credit-journey advance ${journeyId}`;
  return [
    ...wrap(`The report of ${reportTooOld} is too old. Pull it once more, or say that it will do:`, width, '  '),
    ...commandLines(`${advance} --repeat ${reportTooOld} --occurrence ${next} --by WHO --reason WHY`, width, '    '),
    ...commandLines(`${advance} --to ${waitingFor} --accept-age --by WHO --reason WHY`, width, '    '),
  ];
}

/** What is wrong with the input, or with an answer: never a value. */
function problemLines({ problems = [] }: Pick<AnyStatus, 'problems'>, width: number, indent: string): string[] {
  return problems.flatMap((problem) => wrap(problemWords(problem), width, indent));
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines];
}

function stageRow({
  productCode,
  occurrence,
  state,
  attempts,
  reportReferenceNumber,
  attention,
}: StageStatus): string[] {
  const pull = occurrence === undefined ? productCode : `${productCode} (${occurrence})`;
  const flag = attention === undefined ? '' : `(${spaced(attention)})`;
  return [pull, spaced(state), tries(attempts), `${reportReferenceNumber ?? ''} ${flag}`.trim()];
}

function tries(attempts: number): string {
  return attempts === 0 ? '' : `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
}

/** What the gateway said, where it was more than that there is a record of everyone. */
function answerLines(answered: AnsweredInquiry & { productCode: string }, width: number): string[] {
  const { productCode, returnCode, returnReasonCode, applicantOutcomes = [], noRecordReference } = answered;
  const remarks = (answered.remarks ?? []).flatMap((remark) =>
    wrap(`${productCode}: ${problemWords(remark)}`, width, '  '),
  );
  const isPlain = returnReasonCode === undefined && applicantOutcomes.every(({ outcome }) => outcome === 'record');
  if (isPlain) return remarks;
  const parts = [
    ...(returnCode === undefined ? [] : [returnCode]),
    ...(returnReasonCode === undefined ? [] : [`reason ${returnReasonCode}`]),
    ...applicantOutcomes.map(({ applicantId, outcome }) => `${applicantId} ${spaced(outcome)}`),
    ...(noRecordReference === undefined ? [] : [`reference ${noRecordReference}`]),
  ];
  return [...wrap(`${productCode} answered: ${parts.join(', ')}`, width, '  '), ...remarks];
}

/** Shows counts alone: the list is personal, and has a command of its own. */
function changeLines({ productCode, changes }: StageStatus, width: number): string[] {
  if (!changes) return [];
  const since = `${productCode} since ${changes.comparedWith}:`;
  if ('unavailable' in changes) return wrap(`${since} not compared (${spaced(changes.unavailable)})`, width, '  ');
  const words = Object.entries(changes.counts).flatMap(([name, count]) =>
    name === 'applicantsCompared' || count === 0 ? [] : [`${spaced(name)} ${count}`],
  );
  return wrap(`${since} ${words.join(', ') || 'no change'}`, width, '  ');
}

function shareRow(share: ShareStatus): string[] {
  const { shareId, state, waitingFor, until, reportReferenceNumber = '', replacedBy, attention } = share;
  const ended = replacedBy === undefined ? reportReferenceNumber : `replaced by ${replacedBy}`;
  const detail = waitingFor.length > 0 ? `of ${waitingFor.join(', ')}${untilWords(until)}` : ended;
  return [shareId, spaced(state), attention === undefined ? detail : `${detail} (${spaced(attention)})`.trim()];
}

function holdLines(ownerId: string, hold: HoldStatus, width: number): string[] {
  const answer = [
    ...(hold.httpStatus === undefined ? [] : [`HTTP ${hold.httpStatus}`]),
    ...(hold.returnCode === undefined ? [] : [`return code ${hold.returnCode}`]),
    ...(hold.returnReasonCode === undefined ? [] : [`reason ${hold.returnReasonCode}`]),
  ];
  const head = [inquiryWords(hold), hold.failureType, ...answer, `since ${withAge(hold.since)}`].join(' · ');
  return [
    ...wrap(head, width, '  '),
    ...wrap(`trace number ${hold.customerTraceNumber}, attempt ${hold.attempts}`, width, '    '),
    ...(hold.otherTraceNumber === undefined
      ? []
      : wrap(`made already under trace number ${hold.otherTraceNumber}`, width, '    ')),
    ...problemLines(hold, width, '    '),
    ...(hold.refusalKept
      ? [
          ...wrap('what the gateway wrote is kept for readers of reports:', width, '    '),
          ...commandLines(
            `credit-journey report --attempt ${hold.customerTraceNumber}/${hold.attempts}`,
            width,
            '      ',
          ),
        ]
      : []),
    ...(hold.resendFrom === undefined ? [] : wrap(resendRule(hold.resendFrom), width, '    ')),
    ...wrap(`may be decided: ${hold.allowedActions.join(', ')}`, width, '    '),
    ...commandLines(resolveCommand(heldByRun(ownerId, hold)), width, '    '),
  ];
}

/** The last few: the rest is in `--json`. */
const SHOWN_REFUSED = 3;

function refusedLines({ refusedMessages, refusedMessagesTotal }: AnyStatus, width: number): string[] {
  const lines = refusedMessages
    .slice(-SHOWN_REFUSED)
    .flatMap(({ message, at, reason }) => wrap(`${message} at ${withAge(at)}: ${reason}`, width, '  '));
  return section(`Refused messages (${refusedMessagesTotal})`, lines);
}

/** `awaitingConsent` → `awaiting consent` */
function spaced(state: string): string {
  return state.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
