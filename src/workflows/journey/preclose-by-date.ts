/** PRECLOSE by the closing date: when its gate opens by itself, and when it is pulled once more by the standing decision. */
import { condition } from '@temporalio/workflow';
import { parseInstantMs, utcInstant } from '../../base/instants.ts';
import type { RunDecision } from '../../ledger/run-decisions.ts';
import type { SetClosingDateMessage } from '../../messages/journey/shapes.ts';
import type { StageCode } from '../../model/products.ts';
import { MAX_ORDINAL } from '../../model/trace-number.ts';
import { repeatsLeft } from './closing-date.ts';
import type { Journey } from './journey.ts';
import type { StageRecord } from './stage-record.ts';

const PRECLOSE = 'PRECLOSE';

/** A pull that has come to its end, with the journey going on. Of one that is held nothing is known yet. */
const SETTLED: readonly string[] = ['record', 'noRecord', 'noReport', 'abandoned'];

/** Why the message makes no sense as things stand, or `null`; also where the same was accepted before. */
export function closingObjection(journey: Journey, { journeyId: _, ...message }: SetClosingDateMessage): string | null {
  if (!journey.input.preclose) return '/closingDate has no use here: the input of the journey has no preclose';
  const asked = journey.decided.objection([closingDateId(message)], message);
  return asked === undefined ? changeObjection(journey, message) : asked;
}

/** The same, of one that the ledger has. */
export function changeObjection(journey: Journey, message: Omit<SetClosingDateMessage, 'journeyId'>): string | null {
  const objection = journey.closing.objection(message);
  if (objection !== null || journey.closing.isKnown(message)) return objection;
  if (journey.isEnding || journey.isClosing) return 'the journey is ending';
  return journey.stagesEndedAs ? `the stages have ended: ${journey.stagesEndedAs}` : null;
}

/** For the ledger. */
export function closingDateDecision(
  { journeyId, change, closingDate, by, reason }: SetClosingDateMessage,
  decidedAt: string,
): RunDecision {
  const decisionId = closingDateId({ change });
  return { ownerId: journeyId, decisionId, action: 'setClosingDate', closingDate, by, reason, decidedAt };
}

function closingDateId({ change }: Pick<SetClosingDateMessage, 'change'>): string {
  return `closing-date-${change}`;
}

/** Takes a message that `closingObjection` has nothing against, and what its date means. */
export function takeClosingDate(
  journey: Journey,
  { journeyId: _, ...message }: SetClosingDateMessage,
  placed: NonNullable<Journey['closing']['placed']>,
): void {
  journey.closing.take(message, placed);
  if (journey.gate === PRECLOSE) {
    journey.gateTimes = { ...journey.gateTimes, until: gateLastsUntil(journey, PRECLOSE, journey.gateTimes.until) };
  }
  const { closingDate, precloseFrom } = placed;
  journey.events.emit('closing.set', [closingDate, message.change], { closingDate, precloseFrom });
}

/** When a gate expires that would at `until`: the one before PRECLOSE not before the closing date is over. */
export function gateLastsUntil({ closing: { placed } }: Journey, productCode: StageCode, until: string): string {
  if (productCode !== PRECLOSE || !placed) return until;
  return utcInstant(Math.max(msOf(placed.over), msOf(until)));
}

/** How long from `nowMs` until the date opens the gate before the stage: 0 where it has; `undefined` where it will not. */
export function opensInMs(
  { closing: { placed }, decided }: Pick<Journey, 'closing' | 'decided'>,
  productCode: StageCode,
  nowMs: number,
): number | undefined {
  // Another date is on its way to the ledger.
  if (decided.asksForDate) return undefined;
  if (productCode !== PRECLOSE || !placed || nowMs >= msOf(placed.over)) return undefined;
  return Math.max(0, msOf(placed.precloseFrom) - nowMs);
}

/**
 * When PRECLOSE is to be pulled once more by itself, in milliseconds; `undefined` where it is not: there is no report, it is
 * under way or on hold, it is of the days before the closing date, or the standing decision is used up.
 */
function repeatDue(journey: Journey): { fromMs: number; overMs: number } | undefined {
  const { placed } = journey.closing;
  const latest = latestSettled(journey);
  if (journey.decided.asksForDate) return undefined;
  if (!placed || !latest || journey.isEnding || journey.isClosing || repeatsLeft(journey) === 0) return undefined;
  if (journey.nextOrdinal(PRECLOSE) > MAX_ORDINAL) return undefined;
  const fromMs = msOf(placed.precloseFrom);
  if (msOf(latest.attemptedAt ?? latest.since ?? '') >= fromMs) return undefined;
  return { fromMs, overMs: msOf(placed.over) };
}

/** How long from `nowMs` until PRECLOSE is to be pulled once more by itself; `undefined` where it is not. */
export function repeatDueInMs(journey: Journey, nowMs: number): number | undefined {
  const due = repeatDue(journey);
  return due && nowMs < due.overMs ? Math.max(0, due.fromMs - nowMs) : undefined;
}

function latestSettled(journey: Journey): StageRecord | undefined {
  const latest = journey.stage(PRECLOSE);
  return latest && !journey.stagesEndedAs && SETTLED.includes(latest.status.state) ? latest : undefined;
}

/** Until when the journey stays open for a date that is moved; `openUntil` where that is later. RFC 3339. */
export function openUntilWith(journey: Journey, openUntil: string): string {
  const { placed } = journey.closing;
  if (!placed || !latestSettled(journey) || repeatsLeft(journey) === 0) return openUntil;
  return utcInstant(Math.max(msOf(placed.over), msOf(openUntil)));
}

/** Has PRECLOSE pulled once more whenever that is due. Ends with the run. */
export async function repeatByDate(journey: Journey): Promise<never> {
  for (;;) {
    await condition(() => repeatDue(journey) !== undefined);
    const dueInMs = repeatDueInMs(journey, Date.now());
    const { placed } = journey.closing;
    const isOff = () => repeatDue(journey) === undefined || journey.closing.placed !== placed;
    const summary = `PRECLOSE once more, by the closing date ${placed?.closingDate}`;
    if (dueInMs === undefined) await condition(isOff);
    else if (dueInMs > 0 && (await condition(isOff, dueInMs, { summary }))) continue;
    else if (repeatDueInMs(journey, Date.now()) === 0) addStandingRepeat(journey);
  }
}

/** What the standing decision asks for when it is due. */
export function addStandingRepeat(journey: Journey): void {
  const { journeyId, preclose } = journey.input;
  const latest = journey.stage(PRECLOSE);
  if (!preclose || !latest) return;
  const { by, reason } = preclose;
  const occurrence = (latest.status.occurrence ?? 1) + 1;
  const receivedAt = new Date().toISOString();
  journey.addRepeat({ journeyId, repeat: PRECLOSE, occurrence, by, reason, receivedAt, isStanding: true });
}

function msOf(instant: string): number {
  return parseInstantMs(instant) ?? 0;
}
