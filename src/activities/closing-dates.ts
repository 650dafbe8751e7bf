/** What a closing date means in a gateway profile's time zone. Not in workflow code: time zones change, and a replay must not. */
import { utcInstant } from '../base/instants.ts';
import { addDays, localDate, startOfDayMs } from '../base/local-days.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { LendingJourneyInput } from '../messages/journey/shapes.ts';
import type { Problem } from '../model/problems.ts';
import type { PlacedClosing } from './contract.ts';

/** The days are those of the calendar: each begins at midnight there, however long it is. */
export function placed(
  { timeZone }: Pick<GatewayProfile, 'timeZone'>,
  { closingDate, daysBefore }: { closingDate: string; daysBefore: number },
): PlacedClosing {
  return {
    closingDate,
    precloseFrom: utcInstant(startOfDayMs(addDays(closingDate, -daysBefore), timeZone)),
    over: utcInstant(startOfDayMs(addDays(closingDate, 1), timeZone)),
  };
}

/** @param atMs as of when it is judged */
export function pastDateProblems(
  { timeZone }: Pick<GatewayProfile, 'timeZone'>,
  closingDate: string | undefined,
  atMs: number,
): Problem[] {
  if (closingDate === undefined || closingDate >= localDate(atMs, timeZone)) return [];
  return [{ path: '/closingDate', rule: 'must not be past, in the time zone of the gateway profile' }];
}

/** What a journey's start brings. */
export function closingAtStart(
  profile: GatewayProfile,
  { closingDate, preclose }: LendingJourneyInput,
): { closing?: PlacedClosing } {
  if (closingDate === undefined || !preclose) return {};
  return { closing: placed(profile, { closingDate, daysBefore: preclose.daysBefore }) };
}

export function closingProblems(profile: GatewayProfile, { closingDate, preclose }: LendingJourneyInput): Problem[] {
  const problems = pastDateProblems(profile, closingDate, Date.now());
  if (preclose && (preclose.repeats ?? 1) > 0 && profile.decisionTrust === 'proof') {
    const rule = 'must be 0: the gateway profile takes a repeat only with a proof of its own';
    problems.push({ path: '/preclose/repeats', rule });
  }
  return problems;
}
