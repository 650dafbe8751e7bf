/** The request endpoint (interface 4.2): token, rules, SSN, fault, posting, answer, in this order. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { productAnswer, reportedConsumers } from './answers/product-answer.ts';
import { type Context, exchangeOf } from './context.ts';
import { requestFault } from './faults/catalogue.ts';
import { LARGE_REPORT } from './faults/content.ts';
import {
  type Exchange,
  errorAnswer,
  jsonAnswer,
  type Params,
  type RequestFault,
  withDefaults,
} from './faults/fault.ts';
import { magicFault } from './faults/magic-applicants.ts';
import { magicReturnCode } from './faults/magic-codes.ts';
import { applyVariants } from './faults/variants.ts';
import { OWN_RULES } from './options.ts';
import type { IssuedConsumer, ReceivedRequest } from './records/posting.ts';
import { checkRequest, type GatewayRequest, isSecondaryUse, type SecondaryUseRequest } from './rules/check-request.ts';
import { type Problem, parseJson } from './rules/table.ts';

/** Production and UAT have addresses of their own; the path is the same (interface 4.2, 9). */
export const REQUEST_PATH = '/ServiceGateway/orest/grs_v001/request';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the request endpoint only. */
    received: ReceivedRequest | null;
  }
}

interface Chosen {
  fault: RequestFault;
  params: Params;
}

export function addRequestRoute(app: FastifyInstance, context: Context): void {
  app.decorateRequest('received', null);
  app.route({
    method: 'POST',
    url: REQUEST_PATH,
    onRequest: (request, reply) => arrive(context, request, reply),
    // The list of requests also shows those that the HTTP library refuses by itself (size, media type).
    onSend: async (request, reply) => {
      if (!request.received) return;
      request.received.status = reply.statusCode;
      context.journal?.answered(request.received);
    },
    handler: async (request, reply) => {
      const received = request.received ?? context.records.receive();
      await handle(
        context,
        exchangeOf(context, reply, String(request.body ?? ''), received, received),
        received,
        request,
      );
      return reply;
    },
  });
}

async function arrive(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const received = context.records.receive();
  request.received = received;
  context.journal?.head(received);
  const nameless = { productCode: null, customerTraceNumber: null, ssnLast4: [], attempt: 1 };
  const count = context.records.received.length;
  const chosen = context.faults.choose({ target: 'request', ...nameless, count }, 'arrival');
  if (chosen?.fault.stage !== 'arrival') return;
  received.fault = chosen.fault.name;
  await chosen.fault.strike(exchangeOf(context, reply, '', received, received), chosen.params);
}

async function handle(
  context: Context,
  exchange: Exchange,
  received: ReceivedRequest,
  { headers: { authorization } }: FastifyRequest,
): Promise<void> {
  exchange.goOn();
  const body = parseJson(exchange.requestText);
  context.records.identify(received, body);
  context.journal?.request(received, body);
  const token = context.tokens.check(authorization);
  if (!token.ok) {
    const header = { 'www-authenticate': 'Bearer error="invalid_token"' };
    exchange.answer(errorAnswer(401, `The access token is ${token.why}`, [], header));
    return;
  }
  received.authorized = true;
  received.tokenId = token.tokenId;
  if (body === undefined) {
    exchange.answer(errorAnswer(400, 'The body is not JSON'));
    return;
  }
  const checked = checkRequest(body, { now: context.now(), ownRules: context.settings.with.has(OWN_RULES) });
  if ('problems' in checked) {
    exchange.answer(errorAnswer(400, 'The request breaks rules', checked.problems));
    return;
  }
  const { request } = checked;
  const refusals = isSecondaryUse(request) ? findReferenceProblems(context, request) : ssnProblems(request);
  if (refusals.length > 0) {
    exchange.answer(errorAnswer(422, 'The request cannot be processed here', refusals));
    return;
  }
  await serve(context, exchange, received, request);
}

/** Refuses every SSN that a person could have: no issued SSN starts with 9. */
function ssnProblems(request: Exclude<GatewayRequest, SecondaryUseRequest>): Problem[] {
  return request.applicants.flatMap(({ ssn }, index) =>
    ssn.startsWith('9') ? [] : [{ path: `/applicants/${index}/ssn`, rule: 'sandbox:startsWith9' }],
  );
}

/** Interface 2.6: reference and consumerIds "from the original credit report response", shared with another end user. */
function findReferenceProblems(context: Context, request: SecondaryUseRequest): Problem[] {
  const report = context.records.reportUnder(request.reportReferenceNumber);
  if (!report) return [{ path: '/reportReferenceNumber', rule: 'issuedWithAReport' }];
  const issued = new Set(report.consumers.map(({ consumerId }) => consumerId));
  const problems = request.applicants.flatMap(({ consumerId }, index) => {
    // Removed from the set, so that a consumer that is named twice is refused too.
    return issued.delete(consumerId) ? [] : [{ path: `/applicants/${index}/consumerId`, rule: 'issuedWithThisReport' }];
  });
  if (request.endUserCode !== undefined && request.endUserCode === report.inquiry.endUserCode) {
    problems.push({ path: '/endUserCode', rule: 'anotherEndUserThanTheReports' });
  }
  return problems;
}

async function serve(
  context: Context,
  exchange: Exchange,
  received: ReceivedRequest,
  request: GatewayRequest,
): Promise<void> {
  const digits = consumersOf(context, request).map(({ ssnLastFour }) => ssnLastFour);
  const chosen = choose(context, received, request, digits);
  received.fault = chosen?.fault.name ?? null;
  if (chosen?.fault.stage === 'beforePosting') {
    if ((await chosen.fault.strike(exchange, chosen.params)) === 'done') return;
  }
  const codes = digits.map((lastFour) =>
    chosen?.fault.stage === 'outcome'
      ? chosen.fault.returnCode(chosen.params)
      : magicReturnCode(lastFour, request.productCode),
  );
  exchange.goOn();
  // The instant of posting: from here on the inquiry is on the file, even if the answer is lost.
  const inquiry = context.records.post(request, received, reportedConsumers(request, codes));
  context.journal?.posted(received, request, inquiry);
  if (context.settings.latencyMs > 0) await exchange.wait(context.settings.latencyMs);
  const accounts = chosen?.fault === LARGE_REPORT ? Number(chosen.params.accounts) : undefined;
  const userId = context.settings.clientId;
  const whole = productAnswer({ request, inquiry, codes, userId, ...(accounts !== undefined && { accounts }) });
  const body = applyVariants(context.settings.with, whole, request);
  if (chosen?.fault.stage === 'content') {
    exchange.answer(jsonAnswer(200, chosen.fault.change(body, request, chosen.params)));
  } else if (chosen?.fault.stage === 'delivery') {
    await chosen.fault.deliver(exchange, jsonAnswer(200, body), chosen.params);
  } else {
    exchange.answer(jsonAnswer(200, body));
  }
}

/** The consumers of the request. A SECONDUSE names consumers of a report that the sandbox has returned. */
function consumersOf(context: Context, request: GatewayRequest): Pick<IssuedConsumer, 'ssnLastFour'>[] {
  if (!isSecondaryUse(request)) return request.applicants.map(({ ssn }) => ({ ssnLastFour: ssn.slice(-4) }));
  const named = new Set(request.applicants.map(({ consumerId }) => consumerId));
  const report = context.records.reportUnder(request.reportReferenceNumber);
  return report?.consumers.filter(({ consumerId }) => named.has(consumerId)) ?? [];
}

/** The rule of the plan that applies, or else the fault of the first magic applicant. */
function choose(
  context: Context,
  received: ReceivedRequest,
  { productCode, customerTraceNumber }: GatewayRequest,
  ssnLast4: string[],
): Chosen | undefined {
  const { attempt } = received;
  const count = context.records.received.length;
  const subject = { target: 'request', productCode, customerTraceNumber, ssnLast4, attempt, count } as const;
  const planned = context.faults.choose(subject, 'later');
  if (planned && planned.fault.stage !== 'token') return { fault: planned.fault, params: planned.params };
  const magic = ssnLast4.map((digits) => magicFault(digits, productCode)).find((found) => found !== undefined);
  if (!magic || (magic.firstOnly && attempt > 1)) return undefined;
  const fault = requestFault(magic.fault);
  return fault && { fault, params: withDefaults(fault, magic.params) };
}
