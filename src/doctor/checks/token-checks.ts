/** The token service of each profile: it gives a token, which is thrown away. */
import type { Dispatcher } from 'undici';
import { parseHttpDateMs } from '../../base/http-date.ts';
import { createConnections } from '../../gateway/connections.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { GatewayProfile } from '../../gateway/profile.ts';
import { MAX_TOKEN_RESPONSE_BYTES, requestToken } from '../../gateway/token-request.ts';
import type { Check } from './check.ts';
import type { DoctorContext } from './context.ts';
import { type Finding, fail, pass, warn } from './finding.ts';

/** Below this every inquiry or so would fetch one. */
const SHORT_LIFE_S = 60;

export function tokenChecks(profiles: Iterable<GatewayProfile>): Check[] {
  return [...profiles].map((profile) => ({
    name: `token-service/${profile.name}`,
    needs: ['GATEWAY_'],
    run: (context, signal) => fetchOne(profile, context, signal),
  }));
}

async function fetchOne(profile: GatewayProfile, context: DoctorContext, signal: AbortSignal): Promise<Finding> {
  const credentials = await profile.credentials.read().catch(() => null);
  if (!credentials) return fail('the credentials cannot be read', 'check the files that hold them');
  const agent = createConnections(profile, MAX_TOKEN_RESPONSE_BYTES);
  signal.addEventListener('abort', () => void agent.destroy(), { once: true });
  const heard: Heard = {};
  const askedAtMs = Date.now();
  try {
    const token = await requestToken(agent.compose(notingDate(heard)), profile, credentials);
    return lifeFinding(token.expiresInS);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return refusal(error);
  } finally {
    noteClock(context, profile, heard.date, (askedAtMs + Date.now()) / 2);
    await agent.destroy();
  }
}

function lifeFinding(expiresInS: number): Finding {
  const life = expiresInS >= 7_200 ? `${Math.round(expiresInS / 3_600)} h` : `${Math.round(expiresInS / 60)} min`;
  return expiresInS < SHORT_LIFE_S
    ? warn(`gives tokens that are good for ${expiresInS} s`, 'ask the provider: each inquiry may need one of its own')
    : pass(`gives a token that is good for ${life}`);
}

function refusal({ code, httpStatus }: GatewayError): Finding {
  const status = httpStatus === undefined ? '' : ` (${httpStatus})`;
  return code === 'CredentialsRefused'
    ? fail(
        `refuses the credentials${status}`,
        'check client id, secret and audience; ask whether this address is allow-listed',
      )
    : fail(`does not answer${status}`, 'check GATEWAY_AUTH_URL, the network and the certificate');
}

/** To a second, as `Date` is written: half of one is what it lacks on average. */
function noteClock(context: DoctorContext, { name }: GatewayProfile, date: string | undefined, oursMs: number): void {
  const theirsMs = date === undefined ? undefined : parseHttpDateMs(date);
  if (theirsMs !== undefined) context.clocks.push({ whose: `token-service/${name}`, aheadMs: theirsMs + 500 - oursMs });
}

interface Heard {
  date?: string;
}

/** Passes everything on, and looks at one header of the answer. */
function notingDate(heard: Heard): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (...start) => handler.onRequestStart?.(...start),
      onResponseStart: (...head) => {
        const { date } = head[2];
        if (typeof date === 'string') heard.date = date;
        handler.onResponseStart?.(...head);
      },
      onResponseData: (...data) => handler.onResponseData?.(...data),
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...error) => handler.onResponseError?.(...error),
    });
}
