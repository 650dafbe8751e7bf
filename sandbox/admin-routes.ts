/** The sandbox's own routes, beside the gateway's: received requests, posted inquiries, faults, tokens, reset. */
import type { FastifyInstance } from 'fastify';
import type { Context } from './context.ts';
import { describeFaults } from './faults/catalogue.ts';
import { errorAnswer } from './faults/fault.ts';
import { describeMagicApplicants } from './faults/magic-applicants.ts';
import { isObject, parseJson } from './rules/table.ts';

export function addAdminRoutes(app: FastifyInstance, context: Context): void {
  app.get('/_sandbox/inquiries', async () => context.records.inquiries);
  app.get('/_sandbox/requests', async () => context.records.received);
  app.get('/_sandbox/tokens', async () => ({ requests: context.tokenRequests, issued: context.tokens.issued }));

  app.get('/_sandbox/faults', async () => ({
    ...context.faults.describe(),
    faults: describeFaults(),
    magicApplicants: describeMagicApplicants(),
  }));

  app.put('/_sandbox/faults', async (request, reply) => {
    const set = context.faults.set(parseJson(request.body));
    if ('problems' in set) {
      const { status, headers, body } = errorAnswer(400, 'The fault plan is not valid', set.problems);
      return reply.code(status).headers(headers).send(body);
    }
    const { refuseConnectionsForMs } = set.plan;
    if (refuseConnectionsForMs !== undefined) {
      context.listener.refuseFor(refuseConnectionsForMs);
      reply.header('connection', 'close');
    }
    return reply.send(context.faults.describe());
  });

  app.post('/_sandbox/tokens/revoke', async (request, reply) => {
    const body = request.body === undefined || request.body === '' ? {} : parseJson(request.body);
    const { tokenId, ...unknown } = isObject(body) ? body : { tokenId: null };
    if ((tokenId !== undefined && typeof tokenId !== 'string') || Object.keys(unknown).length > 0) {
      const answer = errorAnswer(400, 'Give nothing, or a tokenId', [{ path: '/tokenId', rule: 'string' }]);
      return reply.code(answer.status).headers(answer.headers).send(answer.body);
    }
    return { revoked: context.tokens.revoke(tokenId) };
  });

  app.post('/_sandbox/reset', async () => {
    context.running.abort();
    context.running = new AbortController();
    context.records.reset();
    context.tokenRequests.length = 0;
    context.faults.reset();
    return { reset: true };
  });
}
