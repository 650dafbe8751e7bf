/** What the start of a run of any kind has in common: whose it is to be, and what answers where its id is taken. */
import { z } from 'zod';
import { InputDiffersError } from '../../client/connection/errors.ts';
import { forbidden, type Refusal } from '../../http/refusal.ts';
import { InvalidInputError, type Problem } from '../../model/problems.ts';
import { WORK_CLASSES } from '../../model/work-class.ts';
import { type RunScope, reaches, reachesAll } from '../caller.ts';
import { conflict } from '../problem.ts';
import type { AnswerForm, Call, Reply } from '../route.ts';

export const startQuery = z.strictObject({
  workClass: z
    .enum(WORK_CLASSES)
    .exactOptional()
    .describe('A `batch` gives way to `interactive` (default) work wherever both wait for the gateway’s limit.'),
});

interface Start {
  /** As lists have it: of a pull `pull:<pullId>`. */
  ownerId: string;
  /** Whose the run will be, by its checked input. */
  scope: RunScope;
  /** The gateway profile that its input names. */
  profile: string | undefined;
  /** Refuses what else the start needs. It is not asked where the run is there already. */
  check?(): Promise<void>;
  start(): Promise<{ isNew: boolean }>;
}

/**
 * Starts a run within the caller's reach.
 *
 * @returns whether it is new: otherwise it had been started before, with the same input
 * @throws Refusal 403 for a run that the token does not reach; 409 where the id is taken, with the paths that differ for
 *   a run that it reaches
 * @throws InvalidInputError where the API is configured with profiles, and none has this name
 */
export async function startWithinReach(
  { caller, services }: Pick<Call, 'caller' | 'services'>,
  { ownerId, scope, profile, check, start }: Start,
): Promise<boolean> {
  if (!reaches(caller, scope)) {
    throw forbidden('reach', 'the token does not act for this profile and all of these end users');
  }
  const unknown = profileProblem(services.profiles, profile);
  const requireOwn = async () => {
    if (reachesAll(caller) && !check && !unknown) return;
    const there = await services.runScope(ownerId);
    if (there && !reaches(caller, there)) throw taken();
    if (there) return;
    if (unknown) throw new InvalidInputError([unknown]);
    await check?.();
  };
  // Also of a run that has failed, whose id Temporal would take again.
  await requireOwn();
  try {
    const { isNew } = await start();
    return isNew;
  } catch (error) {
    // Another caller may have been faster.
    if (error instanceof InputDiffersError) await requireOwn();
    throw error;
  }
}

/** The names of other profiles are not for every caller. */
function profileProblem(known: readonly string[] | undefined, name = 'default'): Problem | undefined {
  return !known || known.includes(name)
    ? undefined
    : { path: '/profile', rule: 'must be a configured gateway profile' };
}

function taken(): Refusal {
  return conflict('idTaken', 'this id is taken: choose another');
}

/** What a start answers. @param idName the member with its id @param id of the answer's schema */
export function startAnswers(idName: string, id: string): Record<200 | 201, AnswerForm> {
  const isNew = z.boolean().meta({ description: '`false`: it had been started before, with the same input.' });
  const schema = z.object({ [idName]: z.string(), isNew }).meta({ id });
  const headers = { Location: 'Where its status is.' };
  return {
    201: { description: 'It was started.', schema, headers },
    200: { description: 'It had been started before, with the same input. It may have ended.', schema, headers },
  };
}

export const START_PROBLEMS = {
  409: 'The id is taken: `differs` names the paths that differ, `idTaken` tells nothing of a run that is not yours.',
} as const;

export function startReply<Body extends { isNew: boolean }>(location: string, body: Body): Reply<200 | 201> {
  return { status: body.isNew ? 201 : 200, body, headers: { location } };
}
