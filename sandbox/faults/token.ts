/** Faults of the token service (`target: "token"`). They only happen to valid token requests. */
import { type Exchange, jsonAnswer, type Params, parseWholeNumber, type TokenFault } from './fault.ts';
import { HEADER_PARAMS, STATUS_PARAMS, statusAnswer } from './statuses.ts';

type Deliver = TokenFault['deliver'];

function token(name: string, what: string, deliver: Deliver, params: TokenFault['params'] = {}): TokenFault {
  return { name, stage: 'token', what, deliver, params };
}

/** The proper answer with some fields of its JSON changed. */
function changed(change: (body: Record<string, unknown>) => Record<string, unknown>): Deliver {
  return async (exchange, issue) => {
    const answer = await issue();
    exchange.answer(jsonAnswer(answer.status, change(JSON.parse(answer.body)), answer.headers));
  };
}

async function answerStatus(exchange: Exchange, status: number, params: Params): Promise<void> {
  exchange.answer(statusAnswer(status, params, exchange));
}

export const TOKEN_FAULTS: readonly TokenFault[] = [
  token('unavailable', 'answers 503', (exchange, _issue, params) => answerStatus(exchange, 503, params), HEADER_PARAMS),
  token('throttled', 'answers 429', (exchange, _issue, params) => answerStatus(exchange, 429, params), HEADER_PARAMS),
  token('refused', 'answers 401 to good credentials', (exchange, _issue, params) =>
    answerStatus(exchange, 401, params),
  ),
  token(
    'status',
    'answers with a status',
    (exchange, _issue, params) => answerStatus(exchange, Number(params.status), params),
    STATUS_PARAMS,
  ),
  token(
    'slow',
    'issues a token, late',
    async (exchange, issue, { delayMs }) => {
      await exchange.wait(Number(delayMs));
      exchange.answer(await issue());
    },
    { delayMs: parseWholeNumber('how late, in milliseconds', 1_500) },
  ),
  token('hang', 'never answers', async (exchange) => {
    exchange.takeOver(null);
  }),
  token('reset', 'resets the connection', async (exchange) => {
    exchange.takeOver(null).socket.resetAndDestroy();
  }),
  token('garbage', 'answers 200 with a page of HTML', async (exchange) => {
    exchange.answer({ status: 200, headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>Sign in' });
  }),
  token(
    'notBearer',
    'token_type is mac',
    changed((body) => ({ ...body, token_type: 'mac' })),
  ),
  token(
    'withoutToken',
    'no access_token',
    changed(({ access_token: _, ...rest }) => rest),
  ),
  token(
    'withoutExpiry',
    'no expires_in',
    changed(({ expires_in: _, ...rest }) => rest),
  ),
  token('alreadyExpired', 'issues a token that the gateway refuses as expired', async (exchange, issue) => {
    exchange.answer(await issue(true));
  }),
  token(
    'refuseConnections',
    'issues a token, closes the connection and accepts no other for a while',
    async (exchange, issue, { forMs }) => {
      const answer = await issue();
      exchange.refuseConnections(Number(forMs));
      exchange.answer(answer);
    },
    { forMs: parseWholeNumber('how long, in milliseconds', 1_000) },
  ),
];
