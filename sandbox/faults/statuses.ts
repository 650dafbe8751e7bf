/** Faults that answer with an HTTP status, before or after posting. */
import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import {
  type Answer,
  beforePosting,
  delivery,
  type Exchange,
  jsonAnswer,
  type ParamSchemas,
  type Params,
  parseWholeNumber,
  type RequestFault,
} from './fault.ts';

const headerText = z.string().regex(/^[^\r\n\0]*$/);
const status = z.int().min(300).max(599);

export const HEADER_PARAMS: ParamSchemas = {
  retryAfter: z
    .union([z.int().min(0), headerText])
    .optional()
    .describe('header Retry-After as it stands'),
  retryAfterDateSeconds: parseWholeNumber('header Retry-After as the HTTP date so many seconds from now'),
  location: headerText.optional().describe('header Location'),
  echoRequest: z.boolean().optional().describe('the body quotes the request, secrets and all, as careless services do'),
};

export const STATUS_PARAMS: ParamSchemas = { status, ...HEADER_PARAMS };

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

export const REDIRECTED = '/ServiceGateway/orest/grs_v001/request?redirected=true';

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
      exchange.answer(statusAnswer(Number(status), { location: REDIRECTED }, exchange));
      return 'done';
    },
    { status: status.default(307) },
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
