/**
 * Walks, breadth first, through every order of consents and of the claims of two shares of one report under one grant.
 * Checks that no share is claimed after its consumer refused it or its platform withdrew it, with an old or spent grant, or
 * without its report; and that none is withdrawn once it was claimed.
 * Every verdict is the product's own: `decideClaim` over `judgeGrants`.
 */

import type { ConsentRecord } from '../../src/consent/consent-record.ts';
import { judgeGrants, type StoredConsent } from '../../src/consent/standing.ts';
import { CLAIM_RULES, type ClaimRule, decideClaim, type KnownInquiry } from '../../src/ledger/claim.ts';
import { type Emit, type Walked, walkEveryOrder } from './every-order.ts';
import { consentOf } from './fixtures.ts';

/** The journey's own share, and a share by itself under the same id; both bring the journey's grant. */
const SHARES = ['J-1', 'share:S1'] as const;
type Share = (typeof SHARES)[number];

const GRANT = consentOf({ decidedAt: '2026-01-01T00:00:00Z', receivedAt: '2026-01-01T00:00:01Z' });
const { evidence: _, ...SAID } = GRANT;
const REFUSALS: Record<'own' | 'elsewhere', ConsentRecord> = {
  own: { ...SAID, decision: 'revoked', decidedAt: '2026-01-02T00:00:00Z', receivedAt: '2026-01-02T00:00:00Z' },
  elsewhere: { ...SAID, ...{ shareId: 'S9', consentId: 'C-9', decision: 'denied', decidedAt: '2026-01-02T00:00:00Z' } },
};
const GRANTED_AT_MS = Date.parse(GRANT.decidedAt);
const VALID_FOR_MS = 1_000;

interface Attempt {
  /** `reading` is after the read and before the claim. A product that locks first is never in it. */
  phase: 'none' | 'reading' | 'claimed' | 'sent' | 'notPermitted';
  /** The result of the read. */
  known?: KnownInquiry;
}

interface World {
  /** Refusals that the ledger has. */
  recorded: readonly (keyof typeof REFUSALS)[];
  isOld: boolean;
  isGone: boolean;
  /** Shares whose withdrawal the ledger has. */
  withdrawn: readonly Share[];
  attempts: Record<Share, Attempt>;
}

export interface ShareMutation {
  rules?: readonly ClaimRule[];
  /** A claim reads the ledger before it takes the lock of the writers. */
  readsBeforeTheLock?: boolean;
  /** The run brings a grant for another secondary user. */
  bringsStrangersGrant?: boolean;
  /** A withdrawal does not look for claims. */
  withdrawsWhatIsClaimed?: boolean;
}

const FIRST: World = {
  recorded: [],
  isOld: false,
  isGone: false,
  withdrawn: [],
  attempts: { 'J-1': { phase: 'none' }, 'share:S1': { phase: 'none' } },
};

export function exploreShares(mutation: ShareMutation = {}): Walked {
  return walkEveryOrder(FIRST, (world, emit) => tellWhatMayHappen(world, mutation, emit));
}

function tellWhatMayHappen(world: World, mutation: ShareMutation, emit: Emit<World>): void {
  for (const share of SHARES) shareGoesOn(world, share, mutation, emit);
  for (const share of SHARES) {
    if (world.withdrawn.includes(share)) continue;
    const isClaimed = isOnFile(world, share);
    // As `withdrawShare`: under the lock that the claim takes, too.
    if (isClaimed && !mutation.withdrawsWhatIsClaimed) continue;
    const reached = { ...world, withdrawn: [...world.withdrawn, share] };
    emit(`${share} is withdrawn`, reached, isClaimed ? 'withdrawn although it was claimed' : undefined);
  }
  for (const name of ['own', 'elsewhere'] as const) {
    if (world.recorded.includes(name)) continue;
    emit(`the refusal ${name} is recorded`, { ...world, recorded: [...world.recorded, name] });
  }
  if (!world.isOld) emit('the grant becomes too old', { ...world, isOld: true });
  if (!world.isGone) emit('the report is disposed of', { ...world, isGone: true });
}

function shareGoesOn(world: World, share: Share, mutation: ShareMutation, emit: Emit<World>): void {
  const { phase, known } = world.attempts[share];
  switch (phase) {
    case 'none':
      if (mutation.readsBeforeTheLock) {
        emit(`${share} reads`, withAttempt(world, share, { phase: 'reading', known: knownTo(world, share, mutation) }));
      } else claims(world, share, knownTo(world, share, mutation), mutation, emit);
      break;
    case 'reading':
      if (known) claims(world, share, known, mutation, emit);
      break;
    case 'claimed':
      emit(`${share} sends`, withAttempt(world, share, { phase: 'sent' }));
      break;
  }
}

function claims(world: World, share: Share, known: KnownInquiry, mutation: ShareMutation, emit: Emit<World>): void {
  const facts = { ledgerId: 'L', writer: 1, digest: 'd', attempt: 1 };
  const { kind } = decideClaim(known, facts, mutation.rules ?? CLAIM_RULES);
  if (kind !== 'claim') {
    emit(`${share} is not permitted`, withAttempt(world, share, { phase: 'notPermitted' }));
    return;
  }
  const why = whyNothingMayBeClaimed(world, share, mutation);
  emit(`${share} claims`, withAttempt(world, share, { phase: 'claimed' }), why && `claimed although ${why}`);
}

function whyNothingMayBeClaimed(world: World, share: Share, mutation: ShareMutation): string | undefined {
  if (mutation.bringsStrangersGrant) return 'nobody has granted it';
  if (world.withdrawn.includes(share)) return 'it was withdrawn';
  if (world.isGone) return 'its report was gone';
  if (world.recorded.length > 0) return 'its consumer had refused it';
  if (world.isOld) return 'its grant was too old';
  return SHARES.some((other) => other !== share && isOnFile(world, other)) ? 'its grant was spent' : undefined;
}

/** As `readClaimedShare`: what is in the tables at this moment, and the grant that the run brings. */
function knownTo(world: World, share: Share, { bringsStrangersGrant }: ShareMutation): KnownInquiry {
  const user = SHARES.find((other) => other !== share && isOnFile(world, other));
  const stored: StoredConsent[] = [
    { consent: GRANT, ...(user ? { usedBy: user } : {}) },
    ...world.recorded.map((name) => ({ consent: REFUSALS[name] })),
  ];
  const terms = {
    shareId: 'S1',
    owners: [share, 'J-1'],
    endUserCode: bringsStrangersGrant ? 'EU9' : 'EU2',
    validForMs: VALID_FOR_MS,
  };
  const nowMs = GRANTED_AT_MS + (world.isOld ? VALID_FOR_MS + 1 : 0);
  const grants = judgeGrants(stored, terms, { grants: [GRANT], applicantIds: ['01'], nowMs });
  const known = { ledgerId: 'L', oldestWriter: 1, digest: null, abandoned: false, attempts: [], decisions: [] };
  return { ...known, share: { isWithdrawn: world.withdrawn.includes(share), reportIsGone: world.isGone, grants } };
}

function isOnFile({ attempts }: World, share: Share): boolean {
  return attempts[share].phase === 'claimed' || attempts[share].phase === 'sent';
}

function withAttempt(world: World, share: Share, attempt: Attempt): World {
  return { ...world, attempts: { ...world.attempts, [share]: attempt } };
}
