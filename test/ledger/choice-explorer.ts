/**
 * Walks, breadth first, through every order of grants, refusals, claims and outcomes of one share whose report has two
 * applicants, and whose runs ask for any choice of them at any time. Checks that each claim names those alone whose
 * grants stand, and that a second choice may be sent only by a person's decision. Every verdict is the product's own:
 * `decideClaim` over `judgeGrants`.
 */

import type { ConsentRecord } from '../../src/consent/consent-record.ts';
import { CLAIM_RULES, type ClaimRule, decideClaim, type KnownInquiry } from '../../src/ledger/claim.ts';
import type { StoredConsent } from '../../src/ledger/records.ts';
import { judgeGrants } from '../../src/ledger/share-standing.ts';
import { type Emit, type Walked, walkEveryOrder } from './every-order.ts';
import { consentOf } from './fixtures.ts';

const CHOICES = { both: ['01', '02'], first: ['01'], second: ['02'] } as const;
type Choice = keyof typeof CHOICES;
const NAMES = Object.keys(CHOICES) as Choice[];
const IDS = CHOICES.both;

type State = 'sending' | 'notSent' | 'unknown' | 'answered';

interface World {
  /** Whose refusal the ledger has. */
  refusedBy: readonly string[];
  attempts: Record<Choice, readonly State[]>;
  /** The choice and attempt that a person has permitted. */
  permitted?: { choice: Choice; attempt: number };
}

export interface ChoiceMutation {
  rules?: readonly ClaimRule[];
}

const GRANTED = { decidedAt: '2026-01-01T00:00:00Z', receivedAt: '2026-01-01T00:00:01Z' };
const REFUSED = { decidedAt: '2026-01-02T00:00:00Z', receivedAt: '2026-01-02T00:00:01Z' };
const grantOf = (applicantId: string) => consentOf({ ...GRANTED, applicantId, consentId: `C-${applicantId}` });
const refusalOf = (applicantId: string): ConsentRecord => ({
  ...grantOf(applicantId),
  ...{ ...REFUSED, decision: 'revoked' as const },
});

const FIRST: World = { refusedBy: [], attempts: { both: [], first: [], second: [] } };
const MOST_ATTEMPTS = 2;

export function exploreChoices(mutation: ChoiceMutation = {}): Walked {
  return walkEveryOrder(FIRST, (world, emit) => tellWhatMayHappen(world, mutation, emit));
}

function tellWhatMayHappen(world: World, mutation: ChoiceMutation, emit: Emit<World>): void {
  for (const id of IDS) {
    if (world.refusedBy.includes(id)) continue;
    emit(`${id} refuses`, { ...world, refusedBy: [...world.refusedBy, id] });
  }
  for (const choice of NAMES) {
    const attempts = world.attempts[choice];
    const latest = attempts.at(-1);
    if (latest === 'sending') {
      for (const state of ['notSent', 'unknown', 'answered'] as const) {
        emit(`${choice} is ${state}`, withAttempts(world, choice, [...attempts.slice(0, -1), state]));
      }
    }
    if (attempts.length >= MOST_ATTEMPTS) continue;
    claims(world, choice, mutation, emit);
    if (!world.permitted && latest !== 'sending' && latest !== 'answered') {
      const permitted = { choice, attempt: attempts.length + 1 };
      emit(`a person permits ${choice}`, { ...world, permitted });
    }
  }
}

function claims(world: World, choice: Choice, { rules = CLAIM_RULES }: ChoiceMutation, emit: Emit<World>): void {
  const attempt = world.attempts[choice].length + 1;
  const { kind } = decideClaim(knownTo(world, choice), { ledgerId: 'L', writer: 1, digest: choice, attempt }, rules);
  if (kind !== 'claim') return;
  const named = CHOICES[choice];
  const isPermitted = world.permitted?.choice === choice && world.permitted.attempt === attempt;
  const violation = named.some((id) => world.refusedBy.includes(id))
    ? 'claimed for one who had refused it'
    : otherChoiceOf(world, choice) !== undefined && !isPermitted
      ? 'claimed although another choice may have been sent'
      : undefined;
  emit(`${choice} is claimed`, withAttempts(world, choice, [...world.attempts[choice], 'sending']), violation);
}

/** As `readClaimedShare`: what is in the tables at this moment, and the grants that the run brings. */
function knownTo(world: World, choice: Choice): KnownInquiry {
  const named = CHOICES[choice];
  const stored: StoredConsent[] = [...IDS.map(grantOf), ...world.refusedBy.map(refusalOf)].map((consent) => ({
    consent,
  }));
  const terms = { shareId: 'S1', owners: ['J-1'], endUserCode: 'EU2' };
  const brought = { grants: named.map(grantOf), applicantIds: named, nowMs: Date.parse('2026-01-03T00:00:00Z') };
  const { grants } = judgeGrants(stored, terms, brought);
  const otherChoice = otherChoiceOf(world, choice);
  const { permitted } = world;
  return {
    ...{ ledgerId: 'L', oldestWriter: 1, digest: choice, abandoned: false },
    attempts: world.attempts[choice].map((state, index) => ({ attempt: index + 1, state, answerInMs: 1 })),
    decisions:
      permitted?.choice === choice
        ? [{ decisionId: 'D', action: 'resend', attempt: permitted.attempt, permitsAttempt: permitted.attempt }]
        : [],
    share: { reportIsGone: false, grants, ...(otherChoice ? { otherChoice } : {}) },
  };
}

/** As `readOtherChoice`. */
function otherChoiceOf({ attempts }: World, choice: Choice): string | undefined {
  return NAMES.find((other) => other !== choice && attempts[other].some((state) => state !== 'notSent'));
}

function withAttempts(world: World, choice: Choice, attempts: readonly State[]): World {
  return { ...world, attempts: { ...world.attempts, [choice]: attempts } };
}
