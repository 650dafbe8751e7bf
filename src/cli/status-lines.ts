/** A journey's status in words, at most 80 columns wide. Nothing personal is in a status. */

import { heldByRun } from '../client/open-hold.ts';
import type { HoldStatus, JourneyState, JourneyStatus, ShareStatus, StageStatus } from '../model/shapes.ts';
import { commandLines, resolveCommand } from './hold-lines.ts';
import { type Output, table, wrap } from './output.ts';

const STATE_WORDS: Record<JourneyState, string> = {
  running: 'running',
  waitingAtGate: 'waiting at a gate',
  waitingForConsent: 'waiting for consent',
  held: 'needs a person',
  completed: 'completed',
  stopped: 'stopped: no record',
  expired: 'expired',
  withdrawn: 'withdrawn',
  abandoned: 'abandoned',
};

/** Whether somebody has to do something before the journey goes on, or after it did. */
export function needsPerson(status: Pick<JourneyStatus, 'state' | 'holds' | 'shares'>): boolean {
  return (
    status.state === 'held' || status.holds.length > 0 || status.shares.some(({ attention }) => attention !== undefined)
  );
}

export function statusLines(status: JourneyStatus, { colors, width }: Pick<Output, 'colors' | 'width'>): string[] {
  const environment = status.environment === null ? '' : ` · ${status.environment}`;
  const waiting = status.waitingFor === undefined ? '' : ` · ${status.waitingFor}`;
  const head = wrap(`Journey ${status.journeyId}${environment} · ${STATE_WORDS[status.state]}${waiting}`, width);
  return [
    ...head.map(needsPerson(status) ? colors.yellow : colors.bold),
    ...table(status.stages.map(stageRow), width, '  '),
    ...section('Shares', table(status.shares.map(shareRow), width, '  ')),
    ...section(
      'Needs a person',
      status.holds.flatMap((hold) => holdLines(status.journeyId, hold, width)),
    ),
    ...refusedLines(status, width),
  ];
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines];
}

function stageRow({ productCode, state, attempts, reportReferenceNumber }: StageStatus): string[] {
  const tries = attempts === 0 ? '' : `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  return [productCode, spaced(state), tries, reportReferenceNumber ?? ''];
}

function shareRow({ shareId, state, waitingFor, reportReferenceNumber, attention }: ShareStatus): string[] {
  const detail = waitingFor.length > 0 ? `of ${waitingFor.join(', ')}` : (reportReferenceNumber ?? '');
  return [shareId, spaced(state), attention === undefined ? detail : `${detail} (${spaced(attention)})`.trim()];
}

function holdLines(journeyId: string, hold: HoldStatus, width: number): string[] {
  const share = hold.shareId === undefined ? '' : ` · share ${hold.shareId}`;
  const answer = [
    ...(hold.httpStatus === undefined ? [] : [`HTTP ${hold.httpStatus}`]),
    ...(hold.returnCode === undefined ? [] : [`return code ${hold.returnCode}`]),
  ];
  const head = [`${hold.productCode}${share}`, hold.failureType, ...answer, `since ${hold.since}`].join(' · ');
  return [
    ...wrap(head, width, '  '),
    ...wrap(`trace number ${hold.customerTraceNumber}, attempt ${hold.attempts}`, width, '    '),
    ...wrap(`may be decided: ${hold.allowedActions.join(', ')}`, width, '    '),
    ...commandLines(resolveCommand(heldByRun(journeyId, hold)), width, '    '),
  ];
}

/** The last few: the rest is in `--json`. */
const SHOWN_REFUSED = 3;

function refusedLines({ refusedMessages, refusedMessagesTotal }: JourneyStatus, width: number): string[] {
  const lines = refusedMessages
    .slice(-SHOWN_REFUSED)
    .flatMap(({ message, at, reason }) => wrap(`${message} at ${at}: ${reason}`, width, '  '));
  return section(`Refused messages (${refusedMessagesTotal})`, lines);
}

/** `awaitingConsent` → `awaiting consent` */
function spaced(state: string): string {
  return state.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
