/** The sandbox's journal: one line for each event as it happens. It survives the end of the process at any instant. */
import { createHash, randomUUID } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import type { PostedInquiry, ReceivedRequest } from './records/posting.ts';
import { consumerIdOf } from './records/records.ts';
import { makeDirectory } from './records/state-file.ts';
import { type GatewayRequest, isSecondaryUse } from './rules/check-request.ts';
import { isObject } from './rules/table.ts';

/**
 * JSON lines: `listening`; `connection` and `closed` for each accepted one; for each request at the request endpoint
 * `head`, `request` once its body has come, `posted`, and `answered` with the status. Instants are the sandbox's own; a
 * `requestId` names one request across restarts. Nothing personal: an SSN appears only as its `consumerId`, a body only
 * as a digest.
 */
export class Journal {
  readonly #file: number;
  readonly #requestIds = new WeakMap<ReceivedRequest, string>();

  constructor(path: string) {
    makeDirectory(dirname(path));
    this.#file = openSync(path, 'a');
  }

  listening(): void {
    this.#append({ kind: 'listening' });
  }

  connection(socket: Socket): void {
    const connectionId = randomUUID();
    this.#append({ kind: 'connection', connectionId });
    socket.once('close', () => this.#append({ kind: 'closed', connectionId }));
  }

  head(received: ReceivedRequest): void {
    this.#append({ kind: 'head', requestId: this.#idOf(received) });
  }

  request(received: ReceivedRequest, body: unknown): void {
    const { customerTraceNumber, productCode } = received;
    const digest = isObject(body) ? bodyDigest(body) : null;
    this.#append({ kind: 'request', requestId: this.#idOf(received), customerTraceNumber, productCode, digest });
  }

  posted(received: ReceivedRequest, request: GatewayRequest, inquiry: PostedInquiry): void {
    const { customerTraceNumber, productCode, endUserCode, endUser, reportReferenceNumber } = inquiry;
    const withReport = new Set(inquiry.consumerIds);
    const applicants = isSecondaryUse(request)
      ? request.applicants.map(({ consumerId }) => ({ applicantId: null, consumerId, hasReport: true }))
      : request.applicants.map(({ applicantId = null, ssn }) => {
          const consumerId = consumerIdOf(ssn);
          return { applicantId, consumerId, hasReport: withReport.has(consumerId) };
        });
    this.#append({
      kind: 'posted',
      requestId: this.#idOf(received),
      customerTraceNumber,
      productCode,
      endUserCode,
      endUser,
      reportReferenceNumber,
      applicants,
      ...(isSecondaryUse(request) && { sharedReference: request.reportReferenceNumber }),
    });
  }

  answered(received: ReceivedRequest): void {
    const { status, fault } = received;
    if (status !== null) this.#append({ kind: 'answered', requestId: this.#idOf(received), status, fault });
  }

  #idOf(received: ReceivedRequest): string {
    const known = this.#requestIds.get(received) ?? randomUUID();
    this.#requestIds.set(received, known);
    return known;
  }

  /** Synchronous: the line is written before any later effect. */
  #append(line: Record<string, unknown>): void {
    writeSync(this.#file, `${JSON.stringify({ ...line, at: new Date().toISOString() })}\n`);
  }
}

/**
 * Equal for two requests with the same content: SHA-256, lower-case hex, over the body's JSON with sorted names. Leaves
 * out the members that differ for each attempt (`customerTraceNumber`, `originalInquiryDate`).
 */
function bodyDigest({ customerTraceNumber: _, originalInquiryDate: __, ...rest }: Record<string, unknown>): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(rest)))
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, sorted(value[name])]),
  );
}
