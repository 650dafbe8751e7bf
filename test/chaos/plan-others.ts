/** Draws the runs beside the journeys: single pulls, shares of their reports, and the review of a portfolio. */

import { REPORT_PRODUCTS, type ReportProduct } from '../../src/model/products.ts';
import type { Draw } from './draw.ts';

interface PullPlan {
  pullId: string;
  atMs: number;
  productCode: ReportProduct | 'FAILSAFE';
  endUserCode: string;
  ssns: string[];
  /** Its last hold stays undecided. */
  leaveHeld: boolean;
  /** The same as that of a journey. */
  resetAtRest?: number;
}

/** A share of the report of a pull. It begins when the report exists, at the earliest at its date. */
export interface ShareReportPlan {
  shareId: string;
  pullId: string;
  atMs: number;
  endUserCode: string;
  /** When each applicant answers. Absent: at the end of the storm. */
  saidAtMs?: number;
  says: 'granted' | 'denied' | 'silence';
  leaveHeld: boolean;
}

export interface ReviewPlan {
  reviewId: string;
  atMs: number;
  /** Pauses, each with its end. */
  pauses: { atMs: number; forMs: number }[];
  endUserCode: string;
  window: number;
  /** One for each row. */
  ssns: string[];
}

export interface OthersPlan {
  pulls: PullPlan[];
  shares: ShareReportPlan[];
  reviews: ReviewPlan[];
}

interface OthersFrame {
  seed: number;
  lengthMs: number;
  /** How many journeys there are: the others are some for each of them. */
  journeys: number;
}

const MOST_ROWS = 100;
/** The part of the storm in which runs start, so that the storm finds them running. */
const STARTS_WITHIN = 0.6;
/** The digits after the 9 in the SSNs of people that no journey has. */
const FIRST_OF_PULLS = 5_000;
const FIRST_OF_ROWS = 6_000;

/** Digits that ask the sandbox for a fault before posting, after it, or for an unusual answer. */
const UNUSUAL = [
  ...['0404', '0408', '1422', '1403', '3503', '4001', '4005', '4009', '4022', '4503', '5405', '9002', '9001'],
];

export function drawOthers(draw: Draw, { seed, lengthMs, journeys }: OthersFrame): OthersPlan {
  const early = () => Math.floor(draw.next() * lengthMs * STARTS_WITHIN);
  const ssn = (index: number, ordinary: number) =>
    `9${String(index).padStart(4, '0')}${draw.chance(ordinary) ? '0001' : draw.of(UNUSUAL)}`;
  const pulls = Array.from({ length: Math.max(1, Math.round(journeys / 8)) }, (_, nth): PullPlan => {
    const applicants = draw.chance(0.3) ? 2 : 1;
    return {
      pullId: `CHAOS-PULL-${seed}-${nth + 1}`,
      atMs: early(),
      productCode: draw.chance(0.25) ? 'FAILSAFE' : draw.of(REPORT_PRODUCTS),
      endUserCode: draw.of(['EU100', 'EU200', 'EU300']),
      ssns: Array.from({ length: applicants }, (_, of) => ssn(FIRST_OF_PULLS + nth * 2 + of, 0.7)),
      leaveHeld: draw.chance(0.1),
      ...(draw.chance(0.35) ? { resetAtRest: draw.next() } : {}),
    };
  });
  const shared = pulls.filter(({ productCode }) => productCode !== 'FAILSAFE').slice(0, Math.ceil(journeys / 16));
  const shares = shared.map(({ pullId, atMs }, nth): ShareReportPlan => {
    const startAtMs = atMs + Math.floor(draw.next() * (lengthMs - atMs));
    const saidAtMs = startAtMs + Math.floor(draw.next() * (lengthMs - startAtMs));
    return {
      ...{ shareId: `CHAOS-SHARE-${seed}-${nth + 1}`, pullId, atMs: startAtMs, endUserCode: 'EU950' },
      ...(draw.chance(0.6) ? { saidAtMs } : {}),
      says: draw.of(['granted', 'granted', 'granted', 'denied', 'silence']),
      leaveHeld: draw.chance(0.1),
    };
  });
  const rows = Math.min(MOST_ROWS, Math.ceil(journeys / 2));
  const pauses = Array.from({ length: 2 }, () => ({
    atMs: draw.between(0, lengthMs - 1),
    forMs: draw.between(500, 8_000),
  }));
  const review: ReviewPlan = {
    ...{ reviewId: `CHAOS-REVIEW-${seed}`, atMs: Math.floor(early() / 2), pauses, endUserCode: 'EU400' },
    window: draw.of([1, 4, 12]),
    ssns: Array.from({ length: rows }, (_, nth) => ssn(FIRST_OF_ROWS + nth, 0.9)),
  };
  return { pulls, shares, reviews: [review] };
}
