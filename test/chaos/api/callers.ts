/**
 * Those who send by HTTP: platforms, consent systems, operators, each with a token. One that gets no answer sends the
 * same again to another copy. Every 2xx is written down: it must be true in the end.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { token } from '../../api/fixtures.ts';
import { type HttpAnswer, httpCall } from '../../support/http-call.ts';
import { drawFrom } from '../draw.ts';
import type { ApiAnswer } from '../evidence-api.ts';
import { JOURNEYS_PROFILE } from '../profile-files.ts';
import type { World } from '../world.ts';
import { TOKENS_LAST_S } from './house.ts';
import { CONSENT_SCOPES, OPERATOR_SCOPES, type Operation, PLATFORM_SCOPES } from './operations.ts';

/** Thrown when the API refuses a call. */
export class ApiRefusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(`${status} ${code}`);
    this.name = 'ApiRefusal';
    this.status = status;
    this.code = code;
  }

  /** Tells whether the run refuses this message in its present state. */
  get isFinal(): boolean {
    return this.status === 409 || this.status === 422;
  }
}

/** Limits one try, because a copy that was frozen or killed does not answer. */
const TRY_LIMIT_MS = 5_000;
const CALL_LIMIT_MS = 12_000;
const AGAIN_AFTER_MS = 400;
/** Gateways before several copies answer 502 and 504 for one that is gone. */
const NO_ANSWER: readonly number[] = [429, 502, 503, 504];

/** How many calls were sent again for want of an answer, and how many although there was one. */
const REPEATED = 'API: sent again for want of an answer';
const REPEATED_ANYWAY = 'API: sent again although answered';
const ANSWERED = 'API: messages answered with 2xx';

type Said = Record<string, unknown> & { duplicate?: boolean; recorded?: boolean; heldBy?: string };

interface Tokens {
  platform: string;
  /** Reaches only what the storm's runs are for, so that whose a run is must be read each time. */
  limited: string;
  consents: string;
  operator: string;
}

export class ApiCallers {
  readonly answers: ApiAnswer[] = [];
  readonly #world: World;
  readonly #tokens: Promise<Tokens>;
  readonly #sent = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
    this.#tokens = makeTokens();
  }

  /**
   * Whether this message goes by HTTP, by the seed: about half do. One that is sent several times goes now this way, now
   * that.
   */
  takes(runKey: string, key: string): boolean {
    const { api, plan } = this.#world;
    if (!api) return false;
    const name = `${runKey} ${key}`;
    const nth = (this.#sent.get(name) ?? 0) + 1;
    this.#sent.set(name, nth);
    return drawFrom(plan.seed, 'by the API', runKey, key, nth).chance(0.5);
  }

  /**
   * @param key the message's business key
   * @throws ApiRefusal where it was refused; Error where no copy has answered
   */
  async send(operation: Operation, key: string): Promise<Said> {
    const { plan, api } = this.#world;
    if (!api) throw new Error('no copy of the API runs');
    const { runKey } = operation;
    const draw = drawFrom(plan.seed, 'a call of the API', runKey, key, this.#sent.get(`${runKey} ${key}`) ?? 0);
    const first = draw.between(0, api.urls.length - 1);
    const isRepeated = draw.chance(0.25);
    const bearer = await this.#tokenFor(operation, draw.chance(0.5));
    const said = await this.#sendTo(first, operation, key, bearer);
    if (isRepeated) {
      this.#world.count(REPEATED_ANYWAY, 1);
      // Acts as if the answer had been lost on its way.
      await this.#sendTo(first + 1, operation, key, bearer).catch(() => {});
    }
    return said;
  }

  async #sendTo(copy: number, operation: Operation, key: string, bearer: string): Promise<Said> {
    const { urls = [] } = this.#world.api ?? {};
    const endsAt = performance.now() + CALL_LIMIT_MS;
    for (let nth = copy; ; nth++) {
      const answer = await this.#try(nth % urls.length, operation, bearer);
      if (answer && answer.status >= 200 && answer.status < 300) return this.#noted(operation, key, answer);
      if (answer && !NO_ANSWER.includes(answer.status)) throw new ApiRefusal(answer.status, String(answer.json?.code));
      if (performance.now() > endsAt) throw new Error('no copy of the API has answered');
      this.#world.count(REPEATED, 1);
      await delay(AGAIN_AFTER_MS);
    }
  }

  #try(copy: number, { path, body }: Operation, bearer: string): Promise<HttpAnswer | undefined> {
    const { api } = this.#world;
    const url = `${api?.urls[copy]}${path}`;
    const call = () => httpCall(url, { token: bearer, body, signal: AbortSignal.timeout(TRY_LIMIT_MS) });
    return api?.during(copy, call).catch(() => undefined) ?? Promise.resolve(undefined);
  }

  #noted({ message, runKey, body }: Operation, key: string, { json }: HttpAnswer): Said {
    const said = json as Said;
    const { duplicate, recorded, heldBy } = said;
    this.#world.count(ANSWERED, 1);
    this.answers.push({ atMs: Date.now(), runKey, message, key, body, said: { duplicate, recorded, heldBy } });
    return said;
  }

  async #tokenFor({ message, path }: Operation, isLimited: boolean): Promise<string> {
    const { platform, limited, consents, operator } = await this.#tokens;
    if (path === '/v1/consents') return consents;
    if (['resolveInquiry', 'pause', 'resume'].includes(message)) return operator;
    return isLimited ? limited : platform;
  }
}

async function makeTokens(): Promise<Tokens> {
  const made = (sub: string, scopes: readonly string[], reach: { profiles?: string[]; endUsers?: string[] } = {}) =>
    token({ scopes, ...reach, expiresAt: Math.floor(Date.now() / 1_000) + TOKENS_LAST_S, claims: { sub } });
  const limits = {
    profiles: [JOURNEYS_PROFILE, 'default'],
    endUsers: ['EU100', 'EU200', 'EU300', 'EU400'],
  };
  const [platform, limited, consents, operator] = await Promise.all([
    made('platform', PLATFORM_SCOPES),
    made('platform', PLATFORM_SCOPES, limits),
    made('consents', CONSENT_SCOPES),
    made('operator', OPERATOR_SCOPES),
  ]);
  return { platform, limited, consents, operator };
}
