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

const orderSchema = z
  .strictObject({
    profile: profileName
      .exactOptional()
      .meta({ description: 'Only inquiries of this gateway profile. Default: of all.' }),
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
    runs: z
      .object({ woken: z.int(), closed: z.int(), unreached: z.int() })
      .meta({ description: 'Runs that have waited. Those that were not reached go on within the hour.' }),
    inForce: z.array(pauseSchema).meta({ description: 'Pauses that are left.' }),
  })
  .meta({ id: 'resumed' });

export type Paused = z.infer<typeof pausedSchema>;

/** @throws Refusal 403: a pause stops every end user's inquiries */
function readOrder(call: Call<never>): { scope: PauseScope; authorization: { by: string; reason: string } } {
  const { profile, reason } = parseWith(orderSchema, call.body);
  const isOwn =
    profile === undefined ? reachesAll(call.caller) : reaches(call.caller, { profiles: [profile], endUsers: null });
  if (!isOwn) throw new Refusal('reach', 'the token does not act for this profile and all of its end users');
  return { scope: omitUndefined({ profile }), authorization: { by: call.by(), reason } };
}

/** The names of other profiles are not for every caller. */
function keepReached({ profiles }: ApiCaller, pauses: readonly Pause[]): Pause[] {
  return pauses.filter(({ profile }) => profile === undefined || profiles === '*' || profiles.has(profile));
}

export const pauseRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/pauses',
    operationId: 'listPauses',
    summary: 'Every pause, in force and past',
    scope: 'holds:read',
    answers: {
      200: {
        description: 'All of the profiles that the token reaches.',
        schema: pageSchema('pauseList', pauseSchema, 'The oldest first.'),
      },
    },
    async handle({ services, caller }): Promise<Reply<200>> {
      const all = await (await services.openLedger()).pauses.list();
      return { status: 200, body: toPage(keepReached(caller, all)) };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/pauses',
    operationId: 'beginPause',
    summary: 'Send nothing more, on any worker, until it is ended',
    description: 'It needs no Temporal. Takes a token for all end users, and of all profiles for all of them.',
    scope: 'inquiries:pause',
    body: orderSchema,
    answers: { 200: { description: 'It is in force, now or since before.', schema: pausedSchema } },
    async handle(call): Promise<Reply<200>> {
      const { scope, authorization } = readOrder(call);
      const ledger = await call.services.openLedger();
      return { status: 200, body: await ledger.pauses.begin(ledger.identity.ledgerId, scope, authorization) };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/pauses/end',
    operationId: 'endPause',
    summary: 'End a pause, and wake what waits for its end',
    scope: 'inquiries:pause',
    body: orderSchema,
    answers: { 200: { description: 'It is over, now or since before.', schema: resumedSchema } },
    async handle(call): Promise<Reply<200>> {
      const { scope, authorization } = readOrder(call);
      const { client, openLedger } = call.services;
      const ledger = await openLedger();
      const verdict = await ledger.pauses.end(ledger.identity.ledgerId, scope, authorization);
      const runs = await wakeRuns(client, ledger);
      const inForce = keepReached(call.caller, await ledger.pauses.list()).filter(({ ended }) => !ended);
      return { status: 200, body: { ...verdict, runs, inForce } };
    },
  }),
];
