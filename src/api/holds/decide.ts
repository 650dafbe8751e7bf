/** A person's decision about one inquiry: told to its run, or written into the ledger where the run is lost. */

import {
  DecisionRefusedError,
  JourneyFinishedError,
  JourneyNotFoundError,
  UpdateRefusedError,
} from '../../client/connection/errors.ts';
import type { MessageOf } from '../../messages/message.ts';
import type { decision as decisionDefinition } from '../../messages/resolve-inquiry.ts';
import type { LedgerDecision } from '../../operator/ledger-decisions.ts';
import { refusedMessage, unknownRun } from '../problem.ts';
import type { Call } from '../route.ts';
import type { ApiServices } from '../services.ts';
import { decidedBefore } from './decided-before.ts';
import { isOwnInquiry } from './own-inquiry.ts';
import { signedDecision } from './signing.ts';

export interface DecisionMade {
  accepted: true;
  /** The same decision stood already. */
  duplicate: boolean;
  /** Whether the ledger has it. */
  recorded: boolean;
  /** Who goes on with it: the open run, or the run's next start. */
  heldBy: 'run' | 'ledger';
  /** Of the open run, right after it. */
  status?: object;
}

type Decision = MessageOf<typeof decisionDefinition>;

type Services = Pick<ApiServices, 'journeys' | 'openLedger' | 'environment' | 'maxApplicants' | 'signer'>;

/**
 * @param ownerId the caller reaches it
 * @param given the message, with who decides by the token
 * @throws InvalidInputError; Refusal 409 with who has decided before; 404
 */
export async function decide(
  services: Services,
  { ownerId, given, sending }: { ownerId: string; given: object; sending: Call['sending'] },
): Promise<DecisionMade> {
  const decision = await signedDecision(services, given);
  try {
    return await tellRun(services, ownerId, decision, sending);
  } catch (error) {
    if (!(error instanceof JourneyNotFoundError || error instanceof JourneyFinishedError)) {
      throw await refused(services, ownerId, decision, error);
    }
    if (!(await isOwnInquiry(services, ownerId, decision.customerTraceNumber))) {
      throw error instanceof JourneyFinishedError ? error : unknownRun();
    }
    return writeDown(services, ownerId, decision);
  }
}

/** What the handles of every kind of run have in common. */
interface Deciding {
  resolve(
    decision: Decision,
    options: Call['sending'],
  ): Promise<Omit<DecisionMade, 'heldBy' | 'recorded'> & { recorded?: boolean }>;
}

async function tellRun(
  { journeys }: Services,
  ownerId: string,
  decision: Decision,
  sending: Call['sending'],
): Promise<DecisionMade> {
  const run = journeys.run(ownerId) as unknown as Deciding;
  const { accepted, duplicate, recorded = true, status } = await run.resolve(decision, sending);
  return { accepted, duplicate, recorded, heldBy: 'run', ...(status ? { status } : {}) };
}

async function writeDown(
  services: Services,
  ownerId: string,
  { applicants, ...decision }: Decision,
): Promise<DecisionMade> {
  if (decision.action === 'amend' || applicants !== undefined) {
    throw refusedMessage('without a run nothing can be amended: abandon it, and start anew');
  }
  try {
    const { duplicate } = await services.journeys.decideInLedger(decision as LedgerDecision);
    return { accepted: true, duplicate, recorded: true, heldBy: 'ledger' };
  } catch (error) {
    throw await refused(services, ownerId, decision, error);
  }
}

/** The second of two operators is told what the first has decided. */
async function refused(services: Services, ownerId: string, decision: Decision, error: unknown): Promise<unknown> {
  if (!(error instanceof UpdateRefusedError || error instanceof DecisionRefusedError)) return error;
  const { reason } = error;
  const decided = await decidedBefore(services, ownerId, decision);
  return refusedMessage(reason, decided ? { decided } : {});
}
