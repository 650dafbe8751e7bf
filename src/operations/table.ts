/** Every operation that HTTP and the command line print. */
import { consents, unmatchedConsents } from './consents.ts';
import { accesses, decisions } from './decisions.ts';
import { inquiries } from './inquiries.ts';
import type { Listing } from './operation.ts';
import { disposals } from './retention.ts';
import { shares, withdrawnShares } from './shares.ts';

export const LISTINGS: readonly Listing[] = [
  ...[inquiries, decisions, consents, unmatchedConsents, shares, withdrawnShares],
  ...[disposals, accesses],
];
