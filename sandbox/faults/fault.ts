/** What a fault is: a name, its documentation, and what it does at one point of a request's way. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ReceivedRequest } from '../records/posting.ts';
import type { GatewayRequest } from '../rules/check-request.ts';

/** The JSON of an answer. */
export type Body = Record<string, unknown>;

export type ParamValue = string | number | boolean;
export type Params = Readonly<Record<string, ParamValue>>;

export interface ParamDescription {
  /** Which JSON types are admitted. */
  type: readonly ('string' | 'number' | 'boolean')[];
  default?: ParamValue;
  required?: true;
  what: string;
}

/** The HTTP message that would go out. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** One request under way, as a fault may handle it. */
export interface Exchange {
  /** The request's body as it came. */
  readonly requestText: string;
  /** Absent on the token endpoint. */
  readonly received?: ReceivedRequest;
  /** The token that the first authorized request under this trace number carried. */
  firstTokenId(): string | undefined;
  /** Throws when the sandbox has been closed or reset since the request came. */
  goOn(): void;
  /** Sends a whole, well-formed answer. */
  answer(answer: Answer): void;
  /** Takes the response from the HTTP library. `status` is what will have been sent, null for nothing. */
  takeOver(status: number | null): { response: ServerResponse; socket: Socket };
  /** Rejects when the sandbox closes or is reset. Milliseconds. */
  wait(delayMs: number): Promise<void>;
  /** From now on no connection is accepted, for so many milliseconds. */
  refuseConnections(forMs: number): void;
}

interface Described {
  name: string;
  what: string;
  params?: Record<string, ParamDescription>;
}

/** Strikes when only the request's head has come: it cannot depend on what the body says. Nothing is posted. */
export interface ArrivalFault extends Described {
  stage: 'arrival';
  strike(exchange: Exchange, params: Params): Promise<void>;
}

/** Strikes a good request before it is posted. `goOn`: it is posted after all; `done`: nothing is posted. */
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
  /** `reports`: it needs applicants in the answer, so it cannot befall SECONDUSE. */
  products?: 'reports';
  change(body: Body, request: GatewayRequest, params: Params): Body;
}

/** Sends the answer to a posted inquiry badly, or not at all. */
export interface DeliveryFault extends Described {
  stage: 'delivery';
  deliver(exchange: Exchange, answer: Answer, params: Params): Promise<void>;
}

/** Strikes the token endpoint. `issue` makes the proper answer, with a new token. */
export interface TokenFault extends Described {
  stage: 'token';
  deliver(exchange: Exchange, issue: (alreadyExpired?: boolean) => Promise<Answer>, params: Params): Promise<void>;
}

export type RequestFault = ArrivalFault | PrePostingFault | OutcomeFault | ContentFault | DeliveryFault;
export type Fault = RequestFault | TokenFault;

/** The number given for `name`, else its default. The plan has checked both. */
export function numberOf(fault: Described, params: Params, name: string): number {
  return Number(params[name] ?? fault.params?.[name]?.default);
}

/** The answer that puts `body` on the wire as JSON. */
export function jsonAnswer(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
