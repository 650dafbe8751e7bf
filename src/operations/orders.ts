/** Orders of operators that stay in force until they end: pauses of inquiries, and legal holds against disposal. */

import { z } from 'zod';
import { profileName, text } from '../fields/fields.ts';
import { Refusal } from '../http/refusal.ts';
import { legalHoldFields } from '../ledger/audit/audited.ts';
import { type Pause, type PauseScope, pauseSchema } from '../ledger/pauses.ts';
import { wakeRuns } from '../operator/wake-runs.ts';
import type { ApiCaller } from './caller.ts';
import { defineOperation, type Operation, PATH_PARAMETERS, recordedReason } from './operation.ts';
import { createPageSchema, toPage } from './pages.ts';
import { refuseDifferent } from './problem.ts';
import { keepReached, reaches, reachesAll } from './reach.ts';

const duplicate = z.boolean().describe('The same order was given before, and nothing was written.');

const PROBLEMS = { 409: '`differs`: it was ordered before, by another person or for another reason.' };

const pauseRequestSchema = z
  .strictObject({
    profile: profileName.optional().describe('Only inquiries of this gateway profile. Default: all inquiries.'),
    reason: recordedReason,
  })
  .meta({ id: 'pauseOrder' });

const pausedSchema = z
  .object({
    duplicate,
    pause: pauseSchema,
    inFlight: z.int().min(0).describe('Attempts that were claimed before and may still be answered.'),
  })
  .meta({ id: 'paused' });

export type Paused = z.infer<typeof pausedSchema>;

/** @throws Refusal 403 unless the token reaches the profile for all end users: a pause stops the inquiries of them all */
function readPauseScope({ profile }: z.infer<typeof pauseRequestSchema>, caller: ApiCaller): PauseScope {
  const mayPause =
    profile === undefined ? reachesAll(caller) : reaches(caller, { profiles: [profile], endUsers: null });
  if (!mayPause) throw new Refusal('reach', 'the token does not act for this profile and all of its end users');
  return profile === undefined ? {} : { profile };
}

/** Leaves out the pauses of profiles that the caller does not reach: even their names are not for every caller. */
function hideOtherProfiles({ profiles }: ApiCaller, pauses: readonly Pause[]): Pause[] {
  return pauses.filter(({ profile }) => profile === undefined || profiles === '*' || profiles.has(profile));
}

const holdSchema = z.object(legalHoldFields).meta({ id: 'legalHold' });
const others = z.array(holdSchema).describe('The other holds in force that cover it or a part of it.');

const orderSchema = z
  .strictObject({
    matter: z
      .string()
      .transform((matter) => matter.trim())
      .pipe(text(100))
      .describe('The legal matter; each matter has its own hold.'),
    reason: recordedReason,
  })
  .meta({ id: 'legalHoldOrder' });

export const orderOperations: readonly Operation[] = [
  defineOperation({
    at: 'GET /v1/pauses',
    operationId: 'listPauses',
    summary: 'List every pause, in force and past',
    scope: 'holds:read',
    answer: createPageSchema('pauseList', pauseSchema, 'The oldest first.'),
    done: 'The pauses of all profiles together, and of each profile that the token reaches.',
    async run({ services, caller }) {
      return toPage(hideOtherProfiles(caller, await (await services.openLedger()).pauses.list()));
    },
  }),
  defineOperation({
    at: 'POST /v1/pauses',
    operationId: 'beginPause',
    summary: 'Pause inquiries: no worker sends anything until the pause ends',
    description:
      'This works without Temporal. The token must be for all end users. A pause of all profiles needs a token for all profiles.',
    scope: 'inquiries:pause',
    body: pauseRequestSchema,
    answer: pausedSchema,
    done: 'The pause is in force: this call began it, or an earlier one.',
    problems: PROBLEMS,
    async run({ services, caller, body, by }) {
      const pauseScope = readPauseScope(body, caller);
      const { pauses, identity } = await services.openLedger();
      const verdict = await pauses.begin(identity.ledgerId, pauseScope, { by: by(), reason: body.reason });
      return refuseDifferent('inquiries are paused: the pause was begun', verdict);
    },
  }),
  defineOperation({
    at: 'POST /v1/pauses/end',
    operationId: 'endPause',
    summary: 'End a pause, and wake the runs that wait for its end',
    scope: 'inquiries:pause',
    body: pauseRequestSchema,
    answer: z
      .object({
        duplicate,
        pause: pauseSchema.optional().describe('Absent if there was none.'),
        runs: z
          .object({ woken: z.int(), closed: z.int(), unreached: z.int() })
          .describe(
            'Runs that waited for the end of the pause. Those that the API did not reach continue within the hour.',
          ),
        inForce: z.array(pauseSchema).describe('Pauses that are still in force.'),
      })
      .meta({ id: 'resumed' }),
    done: 'The pause is over: this call ended it, or it was over before.',
    problems: PROBLEMS,
    async run({ services, caller, body, by }) {
      const pauseScope = readPauseScope(body, caller);
      const ledger = await services.openLedger();
      const authorization = { by: by(), reason: body.reason };
      const verdict = await ledger.pauses.end(ledger.identity.ledgerId, pauseScope, authorization);
      const answer = refuseDifferent('the pause was ended', verdict);
      const runs = await wakeRuns(services.client, ledger);
      const inForce = hideOtherProfiles(caller, await ledger.pauses.list()).filter(({ ended }) => !ended);
      return { ...answer, runs, inForce };
    },
  }),
  defineOperation({
    at: 'GET /v1/legal-holds',
    operationId: 'listLegalHolds',
    summary: 'List every legal hold in force',
    scope: 'inquiries:read',
    query: z.strictObject({
      runKey: PATH_PARAMETERS.runKey.optional().describe('Only those that cover this run or a part of it.'),
    }),
    answer: createPageSchema('legalHoldList', holdSchema, 'The oldest first.'),
    async run(call) {
      const all = await (await call.services.openLedger()).retention.legalHolds(call.query.runKey);
      return toPage(await keepReached(call, all));
    },
  }),
  defineOperation({
    at: 'POST /v1/runs/{runKey}/legal-holds',
    operationId: 'setLegalHold',
    summary: 'Keep the data of a run from disposal until each of its legal holds is released',
    scope: 'inquiries:keep',
    body: orderSchema,
    answer: z
      .object({
        ...legalHoldFields,
        duplicate,
        others,
        destroyed: z
          .object({ inquiries: z.int(), histories: z.int() })
          .describe('What a disposal has destroyed so far.'),
      })
      .meta({ id: 'setLegalHold' }),
    done: 'The hold is in force: this call set it, or an earlier one.',
    problems: PROBLEMS,
    async run({ services, params, body, by }) {
      const { retention } = await services.openLedger();
      const hold = await retention.setLegalHold(params.runKey, { ...body, by: by() });
      if (!hold) throw new Refusal('notFound');
      return refuseDifferent('the hold is in force: it was set', hold);
    },
  }),
  defineOperation({
    at: 'POST /v1/runs/{runKey}/legal-holds/release',
    operationId: 'releaseLegalHold',
    summary: 'Release the legal hold of one matter',
    scope: 'inquiries:keep',
    body: orderSchema,
    answer: z
      .object({
        duplicate,
        released: holdSchema.optional().describe('Absent if this matter had no hold on it.'),
        others,
      })
      .meta({ id: 'releasedLegalHold' }),
    done: 'The hold is released: this call released it, or an earlier one.',
    problems: PROBLEMS,
    async run({ services, params, body, by }) {
      const { retention } = await services.openLedger();
      const released = await retention.releaseLegalHold(params.runKey, { ...body, by: by() });
      return refuseDifferent('the hold was released', released);
    },
  }),
];
