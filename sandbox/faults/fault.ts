/** The parts of a fault: a name, its documentation, and its effect at one point of a request. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { z } from 'zod';
import type { ReceivedRequest } from '../records/posting.ts';
import type { GatewayRequest } from '../rules/check-request.ts';
import type { Problem } from '../rules/table.ts';

/** The JSON of an answer. */
export type Body = Record<string, unknown>;

export type ParamValue = string | number | boolean;
export type Params = Readonly<Record<string, ParamValue>>;

/** The parameters that a rule may give, with their defaults. */
export type ParamSchemas = Record<string, z.ZodType<ParamValue | undefined>>;

/** The HTTP message that would be sent. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** One request in progress, as a fault sees it. */
export interface Exchange {
  /** The request's body as it came. */
  readonly requestText: string;
  /** Absent on the token endpoint. */
  readonly received?: ReceivedRequest;
  /** The token that the first authorized request under this trace number carried. */
  firstTokenId(): string | undefined;
  /** Throws when the sandbox was closed or reset since the request came. */
  goOn(): void;
  /** Sends a whole, well-formed answer. */
  answer(answer: Answer): void;
  /** Takes the response from the HTTP library. `status` is what will have been sent; null for nothing. */
  takeOver(status: number | null): { response: ServerResponse; socket: Socket };
  /** Rejects when the sandbox closes or is reset. Milliseconds. */
  wait(delayMs: number): Promise<void>;
  /** Refuses connections from now on, for so many milliseconds. */
  refuseConnections(forMs: number): void;
}

interface Described {
  name: string;
  what: string;
  params?: ParamSchemas;
}

/** Happens when only the request's head has come, so it cannot depend on the body. Nothing is posted. */
export interface ArrivalFault extends Described {
  stage: 'arrival';
  strike(exchange: Exchange, params: Params): Promise<void>;
}

/** Happens to a valid request before it is posted. `goOn`: it is posted after all; `done`: nothing is posted. */
export interface PrePostingFault extends Described {
  stage: 'beforePosting';
  strike(exchange: Exchange, params: Params): Promise<'goOn' | 'done'>;
}

/** Sets the return code of the answer to a posted inquiry, for all applicants. */
export interface OutcomeFault extends Described {
  stage: 'outcome';
  returnCode(params: Params): string;
}

/** Changes the answer to a posted inquiry. */
export interface ContentFault extends Described {
  stage: 'content';
  /** `reports`: it needs applicants in the answer, so it cannot happen to SECONDUSE. */
  products?: 'reports';
  change(body: Body, request: GatewayRequest, params: Params): Body;
}

/** Sends the answer to a posted inquiry badly, or not at all. */
export interface DeliveryFault extends Described {
  stage: 'delivery';
  deliver(exchange: Exchange, answer: Answer, params: Params): Promise<void>;
}

/** Happens at the token endpoint. `issue` makes the proper answer, with a new token. */
export interface TokenFault extends Described {
  stage: 'token';
  deliver(exchange: Exchange, issue: (alreadyExpired?: boolean) => Promise<Answer>, params: Params): Promise<void>;
}

export type RequestFault = ArrivalFault | PrePostingFault | OutcomeFault | ContentFault | DeliveryFault;
export type Fault = RequestFault | TokenFault;

export function beforePosting(
  name: string,
  what: string,
  strike: PrePostingFault['strike'],
  params: ParamSchemas = {},
): PrePostingFault {
  return { name, stage: 'beforePosting', what, strike, params };
}

export function delivery(
  name: string,
  what: string,
  deliver: DeliveryFault['deliver'],
  params: ParamSchemas = {},
): DeliveryFault {
  return { name, stage: 'delivery', what, deliver, params };
}

export function parseWholeNumber(what: string, byDefault?: number): z.ZodType<number | undefined> {
  const schema = z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .describe(what);
  return byDefault === undefined ? schema.optional() : schema.default(byDefault);
}

/** The parameters of a magic applicant's fault, with the defaults of the others. */
export function withDefaults({ params = {} }: Fault, given: Params = {}): Params {
  return z.object(params).parse(given) as Params;
}

/** The answer that puts `body` on the wire as JSON. */
export function jsonAnswer(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

/** An error of the sandbox's own shape (interface 7, items 1 and 5). It contains no value of the request. */
export function errorAnswer(
  status: number,
  errorMessage: string,
  problems: Problem[] = [],
  headers: Record<string, string> = {},
): Answer {
  return jsonAnswer(status, { returnCode: 'Error', errorMessage, problems }, headers);
}
