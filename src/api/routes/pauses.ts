/** Pauses of all inquiries, or of those of one gateway profile: listed, begun and ended. */
import { z } from 'zod';
import { omitUndefined } from '../../base/defined.ts';
import { wakeRuns } from '../../client/runs/wake-runs.ts';
import { profileName, text } from '../../fields/fields.ts';
import { parseWith } from '../../fields/problems.ts';
import { Refusal } from '../../http/refusal.ts';
import type { Pause, PauseScope } from '../../ledger/pauses.ts';
import { type ApiCaller, reaches, reachesAll } from '../caller.ts';
import { pageSchema, toPage } from '../lists/pages.ts';
import { type Call, type Reply, type Route, route } from '../route.ts';

const instant = z.string().meta({ format: 'date-time' });

const pauseSchema = z
  .object({
    profile: z.string().exactOptional().meta({ description: 'Absent: of all profiles.' }),
    ...{ since: instant, by: z.string(), reason: z.string() },
    ended: z
      .object({ at: instant, by: z.string(), reason: z.string() })
      .exactOptional()
      .meta({ description: 'Absent while it is in force.' }),
  })
  .meta({ id: 'pause' });

const pauseRequestSchema = z
  .strictObject({
    profile: profileName
      .exactOptional()
      .meta({ description: 'Only inquiries of this gateway profile. Default: all inquiries.' }),
    reason: text(500).meta({ description: 'Why; kept in the ledger, so nothing personal about the consumer.' }),
  })
  .meta({ id: 'pauseOrder' });

const pausedSchema = z
  .object({
    kind: z.enum(['paused', 'duplicate']),
    pause: pauseSchema,
    inFlight: z.int().min(0).meta({ description: 'Attempts that were claimed before and may still be answered.' }),
  })
  .meta({ id: 'paused' });

const resumedSchema = z
  .object({
    kind: z.enum(['resumed', 'notPaused']),
    pause: pauseSchema.exactOptional(),
    runs: z.object({ woken: z.int(), closed: z.int(), unreached: z.int() }).meta({
      description: 'Runs that waited for the end of the pause. Those that the API did not reach go on within the hour.',
    }),
    inForce: z.array(pauseSchema).meta({ description: 'Pauses that are still in force.' }),
  })
  .meta({ id: 'resumed' });

export type Paused = z.infer<typeof pausedSchema>;

/** @throws Refusal 403 unless the token reaches all end users: a pause stops the inquiries of all of them */
function readPauseRequest(call: Call<never>): { scope: PauseScope; authorization: { by: string; reason: string } } {
  const { profile, reason } = parseWith(pauseRequestSchema, call.body);
  const mayPause =
    profile === undefined ? reachesAll(call.caller) : reaches(call.caller, { profiles: [profile], endUsers: null });
  if (!mayPause) throw new Refusal('reach', 'the token does not act for this profile and all of its end users');
  return { scope: omitUndefined({ profile }), authorization: { by: call.by(), reason } };
}

/** Leaves out the pauses of profiles that the caller does not reach: even their names are not for every caller. */
function hideOtherProfiles({ profiles }: ApiCaller, pauses: readonly Pause[]): Pause[] {
  return pauses.filter(({ profile }) => profile === undefined || profiles === '*' || profiles.has(profile));
}

export const pauseRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/pauses',
    operationId: 'listPauses',
    summary: 'List every pause, in force and past',
    scope: 'holds:read',
    answers: {
      200: {
        description: 'The pauses of all profiles together, and of each profile that the token reaches.',
        schema: pageSchema('pauseList', pauseSchema, 'The oldest first.'),
      },
    },
    async handle({ services, caller }): Promise<Reply<200>> {
      const all = await (await services.openLedger()).pauses.list();
      return { status: 200, body: toPage(hideOtherProfiles(caller, all)) };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/pauses',
    operationId: 'beginPause',
    summary: 'Pause: send nothing more, on any worker, until the pause ends',
    description:
      'This works without Temporal. The token must be for all end users. A pause of all profiles needs a token for all profiles.',
    scope: 'inquiries:pause',
    body: pauseRequestSchema,
    answers: {
      200: { description: 'The pause is in force: this call began it, or an earlier one.', schema: pausedSchema },
    },
    async handle(call): Promise<Reply<200>> {
      const { scope, authorization } = readPauseRequest(call);
      const ledger = await call.services.openLedger();
      return { status: 200, body: await ledger.pauses.begin(ledger.identity.ledgerId, scope, authorization) };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/pauses/end',
    operationId: 'endPause',
    summary: 'End a pause, and wake the runs that wait for its end',
    scope: 'inquiries:pause',
    body: pauseRequestSchema,
    answers: {
      200: { description: 'The pause is over: this call ended it, or it was over before.', schema: resumedSchema },
    },
    async handle(call): Promise<Reply<200>> {
      const { scope, authorization } = readPauseRequest(call);
      const { client, openLedger } = call.services;
      const ledger = await openLedger();
      const verdict = await ledger.pauses.end(ledger.identity.ledgerId, scope, authorization);
      const runs = await wakeRuns(client, ledger);
      const inForce = hideOtherProfiles(call.caller, await ledger.pauses.list()).filter(({ ended }) => !ended);
      return { status: 200, body: { ...verdict, runs, inForce } };
    },
  }),
];
