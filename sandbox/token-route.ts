/** The token service (interface 4.1): exchanges client credentials for an access token. */
import type { FastifyInstance } from 'fastify';
import { type Context, exchangeOf, type TokenRequest } from './context.ts';
import { type Answer, jsonAnswer } from './faults/fault.ts';
import { OWN_RULES } from './options.ts';
import { checkTable, parseJson } from './rules/table.ts';
import { TOKEN_REQUEST } from './rules/tables.ts';

const NO_STORE = { 'cache-control': 'no-store' };

export function addTokenRoute(app: FastifyInstance, context: Context): void {
  app.post('/oauth/token', async (request, reply) => {
    const log: TokenRequest = { receivedAt: new Date().toISOString(), status: null, fault: null };
    context.tokenRequests.push(log);
    const text = String(request.body ?? '');
    const exchange = exchangeOf(context, reply, text, log);
    const refusal = refuse(context, text);
    const chosen = refusal ? undefined : context.faults.chooseForToken();
    const issue = async (alreadyExpired = false): Promise<Answer> =>
      jsonAnswer(200, await context.tokens.issue(context.settings.clientId, alreadyExpired), NO_STORE);
    if (chosen) {
      log.fault = chosen.fault.name;
      await chosen.fault.deliver(exchange, issue, chosen.params);
    } else {
      exchange.answer(refusal ?? (await issue()));
    }
    return reply;
  });
}

/**
 * The refusal of a token request, in the words of RFC 6749 section 5.2 where it has any; the interface shows none (5,
 * item 7).
 */
function refuse({ settings }: Context, text: string): Answer | undefined {
  const body = parseJson(text);
  const problems = checkTable(body, TOKEN_REQUEST, { now: '', ownRules: settings.with.has(OWN_RULES) });
  if (problems.length > 0) return jsonAnswer(400, { error: 'invalid_request', problems }, NO_STORE);
  const { audience, grant_type, client_id, client_secret } = body as Record<keyof typeof TOKEN_REQUEST, string>;
  if (grant_type !== 'client_credentials') return jsonAnswer(400, { error: 'unsupported_grant_type' }, NO_STORE);
  if (client_id !== settings.clientId || client_secret !== settings.clientSecret) {
    return jsonAnswer(401, { error: 'invalid_client' }, NO_STORE);
  }
  return audience === settings.audience ? undefined : jsonAnswer(403, { error: 'invalid_target' }, NO_STORE);
}
