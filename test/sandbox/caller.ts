/** A caller of the sandbox over plain sockets, and requests as the interface shows them. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { TestContext } from 'node:test';
import { type RunningSandbox, type SandboxOptions, startSandbox } from '../../sandbox/server.ts';

export const REQUEST_PATH = '/ServiceGateway/orest/grs_v001/request';
export const CREDENTIALS = {
  audience: 'servicegateway',
  grant_type: 'client_credentials',
  client_id: 'sandbox-client',
  client_secret: 'sandbox-secret',
};

export type Json = Record<string, unknown>;

/** The result of an HTTP exchange. */
export interface Reply {
  /** 0 if no response head arrived. */
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** `true` if the whole body arrived. */
  complete: boolean;
  /** The code of the error that ended the exchange. */
  error?: string;
}

export interface CallOptions {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** The call gives up after this time without a byte. */
  patienceMs?: number;
}

/** Makes an exchange on a new connection. Never rejects: the reply says how the exchange ended. */
export async function call(url: string, options: CallOptions = {}): Promise<Reply> {
  const { method = 'GET', body, headers, patienceMs = 15_000 } = options;
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  return await new Promise((resolve) => {
    const reply: Reply = { status: 0, headers: {}, text: '', complete: false };
    const pieces: Buffer[] = [];
    const end = (error?: NodeJS.ErrnoException): void => {
      if (error) reply.error = error.code ?? error.name;
      reply.text = Buffer.concat(pieces).toString('utf8');
      request.destroy();
      resolve(reply);
    };
    const type = text === undefined ? {} : { 'content-type': 'application/json' };
    const request = httpRequest(url, { method, agent: false, headers: { ...type, ...headers } }, (response) => {
      reply.status = response.statusCode ?? 0;
      reply.headers = response.headers;
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', end);
      response.on('end', () => {
        reply.complete = response.complete;
        end();
      });
    });
    request.setTimeout(patienceMs, () => end(Object.assign(new Error('no patience left'), { code: 'PATIENCE' })));
    request.on('error', end);
    request.end(text);
  });
}

/** A sandbox of the test's own, with a caller that holds a token. */
export class Caller {
  readonly sandbox: RunningSandbox;
  readonly url: string;
  #token = '';

  constructor(sandbox: RunningSandbox) {
    this.sandbox = sandbox;
    this.url = sandbox.url;
  }

  static async start(t: TestContext, options: SandboxOptions = {}): Promise<Caller> {
    const sandbox = await startSandbox(options);
    t.after(() => sandbox.close());
    return await Caller.of(sandbox, options);
  }

  /** Creates a caller for a sandbox that the test itself closes. */
  static async of(sandbox: RunningSandbox, { clientId, clientSecret, audience }: SandboxOptions = {}): Promise<Caller> {
    const caller = new Caller(sandbox);
    await caller.renewToken({
      ...CREDENTIALS,
      ...(clientId && { client_id: clientId }),
      ...(clientSecret && { client_secret: clientSecret }),
      ...(audience && { audience }),
    });
    return caller;
  }

  async askForToken(body: unknown = CREDENTIALS, options: CallOptions = {}): Promise<Reply> {
    return await call(`${this.url}/oauth/token`, { method: 'POST', body, ...options });
  }

  async renewToken(body: unknown = CREDENTIALS): Promise<string> {
    this.#token = String(json(await this.askForToken(body)).access_token);
    return this.#token;
  }

  async post(body: unknown, options: CallOptions = {}): Promise<Reply> {
    const headers = { authorization: `Bearer ${this.#token}`, ...options.headers };
    return await call(`${this.url}${REQUEST_PATH}`, { method: 'POST', body, ...options, headers });
  }

  async inquiries(): Promise<Json[]> {
    return JSON.parse((await call(`${this.url}/_sandbox/inquiries`)).text);
  }

  async requests(): Promise<Json[]> {
    return JSON.parse((await call(`${this.url}/_sandbox/requests`)).text);
  }

  async admin(method: string, path: string, body?: unknown): Promise<Reply> {
    return await call(`${this.url}/_sandbox/${path}`, { method, ...(body !== undefined && { body }) });
  }

  /** Sets a plan of these rules. Throws if the sandbox refuses it. */
  async plan(...rules: Json[]): Promise<void> {
    const reply = await this.admin('PUT', 'faults', { rules });
    if (reply.status !== 200) throw new Error(`plan refused: ${reply.text}`);
  }
}

export function json(reply: Reply): Json {
  return JSON.parse(reply.text);
}

export function problems(reply: Reply): unknown {
  return json(reply).problems;
}

let traces = 0;

/** A trace number that no other request of this process has. */
export function freshTrace(): string {
  traces += 1;
  return `TRACE${String(traces).padStart(6, '0')}`;
}

/** An invented person: the SSN starts with 9. */
export function applicant(lastFour = '0001', applicantId = '1A'): Json {
  return {
    applicantId,
    names: [{ first: 'Maya', middle: 'R', last: "O'Brien-Lee" }],
    ssn: `91234${lastFour}`,
    dob: '1984-02-29',
    phones: [{ phoneNumber: '2025550123', phoneType: 'MOBL' }],
    emailAddress: 'maya@example.com',
    ipAddress: '192.0.2.10',
    addresses: [{ addressIdentifier: 'C', line1: '1 Sample Way', city: 'Albany', state: 'NY', zip: '12207' }],
  };
}

export function reportRequest(changes: Json = {}): Json {
  return {
    customerId: 'CUSTOMER1',
    customerTraceNumber: freshTrace(),
    endUserCode: 'LENDER01',
    productCode: 'PREQUAL',
    permissiblePurposeCode: 'PP',
    softwareProviderId: 'SW01',
    applicants: [applicant()],
    ...changes,
  };
}

/** A FAILSAFE request with exactly the fields of the sample (4.3). */
export function failsafeRequest(...lastFours: string[]): Json {
  const applicants = lastFours.map((digits) => {
    const { names, dob, ssn, phones, addresses } = applicant(digits);
    return { names, dob, ssn, phones, addresses };
  });
  return { customerTraceNumber: freshTrace(), productCode: 'FAILSAFE', applicants };
}

export function localTime(timeZone: string, offsetSeconds = 0): string {
  const at = new Date(Date.now() + offsetSeconds * 1000);
  return at.toLocaleString('sv-SE', { timeZone });
}

/** A SECONDUSE request for the report in this answer. */
export function secondaryUse(report: Json, changes: Json = {}): Json {
  const applicants = report.applicants as Json[];
  return {
    customerId: 'CUSTOMER1',
    customerTraceNumber: freshTrace(),
    endUserCode: 'PARTNER01',
    productCode: 'SECONDUSE',
    permissiblePurposeCode: 'PP',
    softwareProviderId: 'SW01',
    accessMethod: 'ID',
    originalInquiryDate: localTime('UTC', -5),
    reportReferenceNumber: report.reportReferenceNumber,
    applicants: applicants.filter((entry) => entry.consumerId).map(({ consumerId }) => ({ consumerId })),
    ...changes,
  };
}

/** Posts a report on an applicant whose SSN ends in these digits and returns its answer. */
export async function pullReport(caller: Caller, ...lastFours: string[]): Promise<Json> {
  const applicants = lastFours.map((digits, index) => applicant(digits, `${index + 1}A`));
  return json(await caller.post(reportRequest({ applicants })));
}
