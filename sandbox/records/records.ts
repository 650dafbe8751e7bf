/** Received requests and posted inquiries. Posting is one synchronous step: before it nothing is on file. */

import { type GatewayRequest, isSecondaryUse } from '../rules/check-request.ts';
import { digestText } from '../rules/digest.ts';
import { isObject } from '../rules/table.ts';
import type { IssuedConsumer, PostedInquiry, Posting, ReceivedRequest } from './posting.ts';
import type { StateFile } from './state-file.ts';

/** Stable for an SSN (interface 2.4: at most 16 characters, alphanumeric). */
export function consumerIdOf(ssn: string): string {
  return `C${digestText(15, 'consumerId', ssn)}`;
}

export class Records {
  readonly #stateFile: StateFile | undefined;
  #received: ReceivedRequest[] = [];
  #postings: Posting[] = [];
  #byReference = new Map<string, Posting>();
  #requestsByTrace = new Map<string, number>();
  #postingsByTrace = new Map<string, number>();

  constructor(stateFile?: StateFile) {
    this.#stateFile = stateFile;
    for (const posting of stateFile?.load() ?? []) this.#remember(posting);
  }

  get received(): readonly ReceivedRequest[] {
    return this.#received;
  }

  get inquiries(): PostedInquiry[] {
    return this.#postings.map((posting) => posting.inquiry);
  }

  /** Lists a request as soon as its head has come. Later steps fill in the rest. */
  receive(): ReceivedRequest {
    const received: ReceivedRequest = {
      customerTraceNumber: null,
      productCode: null,
      receivedAt: new Date().toISOString(),
      attempt: 1,
      tokenId: null,
      authorized: false,
      posted: false,
      status: null,
      fault: null,
    };
    this.#received.push(received);
    return received;
  }

  /** Reads trace number and product from the body, where their form is plausible, and counts the attempt. */
  identify(received: ReceivedRequest, body: unknown): void {
    if (!isObject(body)) return;
    const { customerTraceNumber: trace, productCode: product } = body;
    if (typeof product === 'string' && /^[A-Z]{1,10}$/.test(product)) received.productCode = product;
    if (typeof trace === 'string' && trace !== '' && trace.length <= 30) {
      received.customerTraceNumber = trace;
      received.attempt = (this.#requestsByTrace.get(trace) ?? 0) + 1;
      this.#requestsByTrace.set(trace, received.attempt);
    }
  }

  /**
   * Puts the inquiry on file. The same trace number twice makes two inquiries: the gateway is not idempotent.
   * `consumers` are those with a report in the answer.
   */
  post(request: GatewayRequest, received: ReceivedRequest, consumers: IssuedConsumer[]): PostedInquiry {
    const trace = request.customerTraceNumber;
    const nth = (this.#postingsByTrace.get(trace) ?? 0) + 1;
    const named = isSecondaryUse(request) ? request.applicants : consumers;
    const inquiry: PostedInquiry = {
      customerTraceNumber: trace,
      productCode: request.productCode,
      endUserCode: request.endUserCode ?? null,
      endUser: (isSecondaryUse(request) ? request.endUser : undefined) ?? null,
      applicants: request.applicants.length,
      postedAt: new Date().toISOString(),
      reportReferenceNumber: `SBX${digestText(21, 'reference', trace, nth)}`,
      consumerIds: named.map((consumer) => consumer.consumerId),
    };
    const posting = { inquiry, consumers };
    this.#stateFile?.append(posting);
    this.#remember(posting);
    received.posted = true;
    return inquiry;
  }

  /** The token that the first authorized request under this trace number carried. */
  firstTokenOf(trace: string | null): string | undefined {
    const first = this.#received.find((received) => received.customerTraceNumber === trace && received.authorized);
    return first?.tokenId ?? undefined;
  }

  /** The report that was returned under this reference, if there is one. */
  reportUnder(reportReferenceNumber: string): Posting | undefined {
    const posting = this.#byReference.get(reportReferenceNumber);
    return posting && posting.consumers.length > 0 ? posting : undefined;
  }

  /** Returns to the state of a fresh start with an empty state file. */
  reset(): void {
    this.#received = [];
    this.#postings = [];
    this.#byReference = new Map();
    this.#requestsByTrace = new Map();
    this.#postingsByTrace = new Map();
    this.#stateFile?.clear();
  }

  #remember(posting: Posting): void {
    const { customerTraceNumber: trace, reportReferenceNumber } = posting.inquiry;
    this.#postings.push(posting);
    this.#byReference.set(reportReferenceNumber, posting);
    this.#postingsByTrace.set(trace, (this.#postingsByTrace.get(trace) ?? 0) + 1);
  }
}
