/** 405 with `Allow` for every method that an address does not have, before a byte of the body is read. */
import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Refusal } from './refusal.ts';

/** Node hands its connections over elsewhere: server.ts answers them. */
const NO_REQUEST = 'CONNECT';

/** Called before the first route is added; covers those that are added before the server is ready. */
export function refuseOtherMethods(app: FastifyInstance): void {
  // Fastify would look for no route at all for methods that it does not know.
  for (const method of METHODS) {
    if (method !== NO_REQUEST && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  const taken = new Map<string, string[]>();
  app.addHook('onRoute', ({ method, url }) => {
    taken.set(url, [...(taken.get(url) ?? []), ...[method].flat()]);
  });
  app.register(async (last) => {
    for (const [url, methods] of [...taken]) {
      const others = last.supportedMethods.filter((method) => !methods.includes(method));
      // Not in the handler: a body of another type, or without one, would be refused for that.
      const onRequest = async () => {
        throw otherMethod(methods);
      };
      last.route({ method: others, url, onRequest, handler: onRequest });
    }
  });
}

function otherMethod(taken: readonly string[]): Refusal {
  const message = `the address takes ${taken.join(' and ')}`;
  return new Refusal(405, 'MethodNotAllowed', 'method', message, { headers: { allow: taken.join(', ') } });
}
