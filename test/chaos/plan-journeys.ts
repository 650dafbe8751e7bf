/** Draws one journey: its applicants, its course and its messages. */
import { STAGES, type StageCode } from '../../src/model/products.ts';
import { type Draw, drawFrom } from './draw.ts';
import type { ConsentPlan, JourneyPlan, SharePlan, WorldPlan } from './plan.ts';

/** Journeys begin in the first part of the storm, so that it finds them under way. */
const STARTS_WITHIN = 0.6;

interface JourneyFrame {
  seed: number;
  index: number;
  lengthMs: number;
  world: WorldPlan;
}

export function drawJourney(frame: JourneyFrame): JourneyPlan {
  const { lengthMs, index, seed } = frame;
  const draw = drawFrom(seed, 'journey', index);
  const atMs = Math.floor(draw.next() * lengthMs * STARTS_WITHIN);
  const laterBy = (from: Draw) => atMs + Math.floor(from.next() * (lengthMs - atMs));
  const later = () => laterBy(draw);
  const [withdrawal, extension] = [drawFrom(seed, 'withdrawn shares', index), drawFrom(seed, 'extended shares', index)];
  const stages = draw.of<StageCode[]>([['PREQUAL'], ['PREQUAL', 'PREAPP'], [...STAGES], [...STAGES], ['PRECLOSE']]);
  const applicants = draw.chance(0.4) ? 2 : 1;
  const shares = Array.from({ length: draw.of([0, 0, 1, 1, 2]) }, (_, nth) => drawShare(draw, nth, stages, later));
  const consents = shares.flatMap((share) => drawConsents(draw, share, applicants, { atMs, lengthMs, later }));
  return {
    journeyId: `CHAOS-${seed}-${index + 1}`,
    atMs,
    endUserCode: draw.of(['EU100', 'EU200', 'EU300']),
    ssns: Array.from({ length: applicants }, (_, nth) => ssn(draw, frame, nth)),
    stages,
    gates: draw.of(['manual', 'auto']),
    onNoRecord: draw.of(['stop', 'continue']),
    advanceAtMs: Object.fromEntries(stages.slice(1).flatMap((stage) => (draw.chance(0.7) ? [[stage, later()]] : []))),
    shares: shares.map((share) => ({
      ...share,
      ...(withdrawal.chance(0.15) ? { withdrawAtMs: laterBy(withdrawal) } : {}),
      ...(extension.chance(0.25) ? { extendAtMs: laterBy(extension) } : {}),
    })),
    // Longer than any run: it ends by a withdrawal.
    ...(shares.some(({ requestedAtMs }) => requestedAtMs !== undefined) ? { sharesOpenForSeconds: 3_600 } : {}),
    consents,
    ...(draw.chance(0.1) ? { withdrawAtMs: later() } : {}),
    leaveHeld: draw.chance(0.1),
    ...(draw.chance(0.35) ? { resetAtRest: draw.next() } : {}),
  };
}

/** An SSN that starts with 9, belongs to no person, and is not used twice in a run. */
function ssn(draw: Draw, { index, world }: JourneyFrame, nth: number): string {
  const ordinary = draw.chance(0.7);
  const afterPosting = world.notProcessedStatuses.length === 0 ? ['2401', '2429', '2503'] : ['2500', '2503', '2408'];
  const unusual = draw.of([
    ...['0404', '0405', '0407', '0408', '3401', '3429', '3503', '1422', '1403', '5405', '9002', '9001', '7503'],
    ...['4001', '4002', '4005', '4006', '4007', '4008', '4009', '4010', '4013', '4014', '4017', '4022'],
    ...['4023', '4024', '4025', '4026', '4027', '4028', '4029', '4032', '4051', '4044', '4046', '4430', '4503'],
    ...afterPosting,
  ]);
  return `9${String(1_000 + index * 2 + nth).padStart(4, '0')}${ordinary ? '0001' : unusual}`;
}

function drawShare(draw: Draw, nth: number, stages: readonly StageCode[], later: () => number): SharePlan {
  return {
    shareId: `S${nth + 1}`,
    endUserCode: `EU90${nth + 1}`,
    ...(draw.chance(0.3) ? { reportOf: draw.of(stages) } : {}),
    ...(draw.chance(0.2) ? { requestedAtMs: later() } : {}),
    inTheEnd: draw.of(['granted', 'granted', 'granted', 'denied', 'silence']),
  };
}

interface Dates {
  atMs: number;
  lengthMs: number;
  later(): number;
}

/** Early, late, twice, in any order; now and then one is taken back, with or without a grant to take back. */
function drawConsents(draw: Draw, { shareId }: SharePlan, applicants: number, dates: Dates): ConsentPlan[] {
  return Array.from({ length: applicants }, (_, nth) => `${nth + 1}A`).flatMap((applicantId) => {
    const consentId = `C-${shareId}-${applicantId}`;
    const message = (decision: ConsentPlan['decision'], more: Partial<ConsentPlan> = {}): ConsentPlan => ({
      atMs: dates.later(),
      ...{ shareId, applicantId, consentId, decision },
      by: draw.of(['signal', 'signal', 'update']),
      copies: draw.of([1, 1, 1, 2, 3]),
      ...more,
    });
    if (draw.chance(0.3)) return [];
    const first = draw.chance(0.12) ? message('denied') : message('granted');
    const isTakenBack = draw.chance(0.15);
    return [
      first,
      ...(isTakenBack ? [message('revoked', { consentId: draw.of([consentId, `${consentId}-UNKNOWN`]) })] : []),
      ...(draw.chance(0.2) ? [message('granted', { consentId: `${consentId}-2` })] : []),
    ];
  });
}
