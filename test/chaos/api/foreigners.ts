/** Callers whose tokens are good, and reach none of the storm's runs: what they ask about must look unknown. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseRunKey } from '../../../src/model/run-key.ts';
import { token } from '../../api/fixtures.ts';
import { type HttpAnswer, httpCall } from '../../support/http-call.ts';
import { type Draw, drawFrom } from '../draw.ts';
import type { ForeignCall } from '../evidence-api.ts';
import { consentOf, inputOf } from '../journey-inputs.ts';
import type { JourneyPlan } from '../plan.ts';
import type { World } from '../world.ts';
import { TOKENS_LAST_S } from './house.ts';
import { messageOf, type Operation } from './operations.ts';

const PAUSE_MS = 150;
const TRY_LIMIT_MS = 5_000;

interface Asked extends Omit<Operation, 'body' | 'message'> {
  what: string;
  body?: object;
}

/** Calls one after another until the signal, each beside the same call about an unused id. */
export async function askAsForeigners(
  world: World,
  isStarted: (runKey: string) => boolean,
  signal: AbortSignal,
): Promise<ForeignCall[]> {
  const { api, plan } = world;
  const calls: ForeignCall[] = [];
  if (!api) return calls;
  const expiresAt = Math.floor(Date.now() / 1_000) + TOKENS_LAST_S;
  const tokens = {
    'of another profile': await token({ profiles: ['elsewhere'], expiresAt, claims: { sub: 'stranger-1' } }),
    'of another end user': await token({ endUsers: ['EU777'], expiresAt, claims: { sub: 'stranger-2' } }),
  } as const;
  const draw = drawFrom(plan.seed, 'foreigners');
  while (!signal.aborted) {
    const journey = draw.of(plan.journeys);
    const whose = draw.of(['of another profile', 'of another end user'] as const);
    const ask = askedOf(draw, journey, plan.seed);
    const copy = draw.between(0, api.urls.length - 1);
    // If the start may not have arrived yet, the foreigner's own start would be the first.
    if (isStarted(journey.journeyId)) {
      const call = await compared(world, { copy, token: tokens[whose], ...ask });
      if (call) calls.push({ ...call, what: `${ask.known.what} by a token ${whose}` });
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
  return calls;
}

/** The call about a run of the storm, and the same about none. */
function askedOf(draw: Draw, journey: JourneyPlan, seed: number): { known: Asked; unknown?: Asked } {
  const about = (runKey: string): Asked[] => {
    const told = (name: string, message: object): Asked => {
      const { path, body } = messageOf(runKey, name, message);
      return { what: name, runKey, path, body };
    };
    const reason = 'not mine to say';
    const share = { shareId: 'S9', endUserCode: 'EU777' };
    const consent = {
      atMs: 0,
      shareId: 'S1',
      applicantId: '1A',
      consentId: 'FOREIGN',
      by: 'update',
      copies: 1,
    } as const;
    const run = `/v1/journeys/${parseRunKey(runKey).id}`;
    return [
      { what: 'status', runKey, path: run },
      { what: 'result', runKey, path: `${run}/result` },
      told('advance', { journeyId: runKey, to: 'PREAPP' }),
      told('withdraw', { journeyId: runKey, reason }),
      told('requestShare', { journeyId: runKey, share }),
      told('withdrawShare', { journeyId: runKey, shareId: 'S1', reason }),
      told('recordConsent', consentOf(runKey, { ...consent, decision: 'granted' }, [], new Date(Date.now() - 1_000))),
    ];
  };
  const [known, unknown] = [about(journey.journeyId), about(`CHAOS-${seed}-NONE`)];
  const which = draw.between(0, known.length);
  if (which < known.length) return { known: known[which] as Asked, unknown: unknown[which] as Asked };
  // Its own customers, under an id that is taken.
  const input = { ...inputOf(journey), shares: [], profile: 'elsewhere', endUserCode: 'EU777' };
  return { known: { what: 'start', runKey: journey.journeyId, path: '/v1/journeys', body: input } };
}

/** `undefined` where one of the two was not answered: something is away. */
async function compared(
  world: World,
  { copy, known, unknown, token: bearer }: { copy: number; token: string; known: Asked; unknown?: Asked },
): Promise<Omit<ForeignCall, 'what'> | undefined> {
  const ask = ({ path, body }: Asked) =>
    world.api
      ?.during(copy, () =>
        httpCall(`${world.api?.urls[copy]}${path}`, { token: bearer, body, signal: AbortSignal.timeout(TRY_LIMIT_MS) }),
      )
      .catch(() => undefined);
  const told = await ask(known);
  if (!told || isAway(told)) return undefined;
  const { runKey } = known;
  // The start's own answer: the id is taken, and nothing about what by.
  if (!unknown) return { runKey, status: told.status, looksUnknown: isTaken(told) };
  const other = await ask(unknown);
  if (!other || isAway(other)) return undefined;
  return { runKey, status: told.status, looksUnknown: told.status === 404 && textOf(told) === textOf(other) };
}

function isAway({ status }: HttpAnswer): boolean {
  return status === 429 || status >= 500;
}

function isTaken({ status, json }: HttpAnswer): boolean {
  return status === 409 && json?.code === 'idTaken' && json?.problems === undefined;
}

/** Removes the parts that differ between any two answers. */
function textOf({ text, headers, json }: HttpAnswer): string {
  const names = [...headers.keys()].filter((name) => !['date', 'x-request-id', 'keep-alive'].includes(name));
  const shown = names.map((name) => `${name}: ${headers.get(name)}`).join('\n');
  return `${shown}\n${json?.requestId ? text.replace(String(json.requestId), '') : text}`;
}
