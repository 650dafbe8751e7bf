/** Faults that answer with an HTTP status, before or after posting. */
import { STATUS_CODES } from 'node:http';
import {
  type Answer,
  beforePosting,
  delivery,
  type Exchange,
  jsonAnswer,
  type ParamDescription,
  type Params,
  type RequestFault,
} from './fault.ts';

export const STATUS_PARAMS: Record<string, ParamDescription> = {
  status: { type: ['number'], required: true, what: 'HTTP status, 300 to 599' },
  retryAfter: { type: ['number', 'string'], what: 'header Retry-After as it stands (seconds, or any text)' },
  retryAfterDateSeconds: { type: ['number'], what: 'header Retry-After as the HTTP date so many seconds from now' },
  location: { type: ['string'], what: 'header Location' },
  echoRequest: { type: ['boolean'], what: 'the body quotes the request, secrets and all, as careless services do' },
};

/** An error answer with this status. Its body has the sandbox's own shape: the interface shows none (7, item 5). */
export function statusAnswer(status: number, params: Params, exchange: Exchange): Answer {
  const headers: Record<string, string> = {};
  if (params.retryAfter !== undefined) headers['retry-after'] = String(params.retryAfter);
  if (params.retryAfterDateSeconds !== undefined) {
    const at = Date.now() + Number(params.retryAfterDateSeconds) * 1000;
    headers['retry-after'] = new Date(at).toUTCString();
  }
  if (params.location !== undefined) headers.location = String(params.location);
  const body = {
    returnCode: 'Error',
    errorMessage: `The sandbox was told to answer ${status} ${STATUS_CODES[status] ?? ''}`.trim(),
    ...(params.echoRequest === true && { request: exchange.requestText }),
  };
  return jsonAnswer(status, body, headers);
}

export const STATUS_FAULTS: readonly RequestFault[] = [
  beforePosting(
    'status',
    'answers with a status; nothing is posted',
    async (exchange, params) => {
      exchange.answer(statusAnswer(Number(params.status), params, exchange));
      return 'done';
    },
    STATUS_PARAMS,
  ),
  delivery(
    'statusAfterPosting',
    'posts the inquiry, then answers with a status as if it had not',
    async (exchange, _answer, params) => {
      exchange.answer(statusAnswer(Number(params.status), params, exchange));
    },
    STATUS_PARAMS,
  ),
  beforePosting(
    'redirect',
    'answers with a redirect back to the request endpoint, where a client that follows it would post',
    async (exchange, { status }) => {
      const location = '/ServiceGateway/orest/grs_v001/request?redirected=true';
      exchange.answer(statusAnswer(Number(status), { location }, exchange));
      return 'done';
    },
    { status: { type: ['number'], default: 307, what: '301, 302, 303, 307 or 308' } },
  ),
  beforePosting(
    'tokenRefusedUntilRenewed',
    'answers 401 for as long as the requests of a trace number carry the token of the first of them',
    async (exchange, params) => {
      if (exchange.received?.tokenId !== exchange.firstTokenId()) return 'goOn';
      exchange.answer(statusAnswer(401, params, exchange));
      return 'done';
    },
  ),
];
