/** The state that the routes of one sandbox share. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { Answer, Exchange } from './faults/fault.ts';
import type { Faults } from './faults/plan.ts';
import type { Journal } from './journal.ts';
import type { Listener } from './listener.ts';
import type { Settings } from './options.ts';
import type { ReceivedRequest } from './records/posting.ts';
import type { Records } from './records/records.ts';
import type { TokenIssuer } from './token-issuer.ts';

/** Every response carries it, so that no client can take the sandbox for the gateway. */
export const MARK = { name: 'x-sandbox-gateway', value: 'credit-journey' } as const;

/** A request at the token endpoint, as `GET /_sandbox/tokens` counts it. */
export interface TokenRequest {
  receivedAt: string;
  status: number | null;
  fault: string | null;
}

export interface Context {
  settings: Settings;
  records: Records;
  journal: Journal | undefined;
  tokens: TokenIssuer;
  tokenRequests: TokenRequest[];
  faults: Faults;
  listener: Listener;
  /** Local date and time as text. */
  now: () => string;
  /** Ends requests in progress: replaced on reset, final on close. */
  running: AbortController;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Aborted when the sandbox closes, or is reset after the request's head has come. */
    running: AbortSignal;
  }
}

/** Thrown where a request is in progress when the sandbox closes or is reset. */
export class SandboxStopped extends Error {
  override name = 'SandboxStopped';
}

/** The exchange of one request. `log` gets the status and, where `received` is given, is the same object. */
export function exchangeOf(
  context: Context,
  reply: FastifyReply,
  requestText: string,
  log: { status: number | null },
  received?: ReceivedRequest,
): Exchange {
  const signal = reply.request.running;
  const goOn = (): void => {
    if (signal.aborted) throw new SandboxStopped('the sandbox was closed or reset');
  };
  return {
    requestText,
    goOn,
    ...(received && { received }),
    firstTokenId: () => context.records.firstTokenOf(received?.customerTraceNumber ?? null),
    answer({ status, headers, body }: Answer): void {
      goOn();
      log.status = status;
      if (context.listener.refusing) reply.header('connection', 'close');
      reply.code(status).headers(headers).send(body);
    },
    takeOver(status) {
      goOn();
      log.status = status;
      if (received) context.journal?.answered(received);
      reply.hijack();
      const response = reply.raw;
      response.setHeader(MARK.name, MARK.value);
      // A caller that closes the connection is no error.
      response.on('error', () => undefined);
      return { response, socket: reply.request.raw.socket };
    },
    async wait(delayMs) {
      await sleep(delayMs, undefined, { signal }).catch(goOn);
    },
    refuseConnections: (forMs) => context.listener.refuseFor(forMs),
  };
}
