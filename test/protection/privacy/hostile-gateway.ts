/**
 * A gateway and a token service that quote in every answer all that they received and all that they know. The last four
 * digits of the first applicant's SSN select what the gateway does.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { PlaceKind, Sentinel } from '../sentinels.ts';
import { REFERENCE_PLACES, type SeenSentinels } from './people.ts';

/** The audience of the profile that gets the sandbox's tokens. */
export const SANDBOX_AUDIENCE = 'servicegateway';
/** The audience of the profile whose token service answers badly, each time in another way. */
export const REFUSED_AUDIENCE = 'refused';

const TOKEN = 'tok-7Xq2zebulon.Vv81mistral_0Kc5quorvane';
const REFUSED_TOKEN = 'tok-9Hd3tanta.Jj40hesper_6Wn7wryneck';

const REPORTED = {
  accountNumber: '4929123456781234',
  contributor: 'Borrowdale Thrift 17',
  employer: 'Grindlewick Foundry',
};
const STRANGER = { ssn: '987112233', last: 'Crumplehorn' };
const REFERENCE = { reportReferenceNumber: 'RPTHOSTILE77Q1', consumerId: 'CHOSTILE4471ZZ' };
const CODE = 'Snollygoster 9';
/** The command line shows an unknown return code to the person who decides. The ledger has a column for it. */
const CODE_PLACES: PlaceKind[] = ['commandLine'];

/** The values that the gateway adds to those that it received. */
export const HOSTILE_SENTINELS: Sentinel[] = [
  ...Object.entries({ ...REPORTED, ...STRANGER }).map(([name, value]) => ({ name, value })),
  { name: 'reportReferenceNumber', value: REFERENCE.reportReferenceNumber, mayBeIn: REFERENCE_PLACES ?? [] },
  { name: 'consumerId', value: REFERENCE.consumerId },
  { name: 'returnCode', value: CODE, mayBeIn: CODE_PLACES },
  ...[TOKEN, REFUSED_TOKEN].map((value) => ({ name: 'access token', value })),
];

interface Asked {
  /** Body and authorization, which a careless service may quote. */
  quoted: string;
  customerTraceNumber: string;
  applicant: { applicantId: string; ssn: string };
}

interface Reply {
  status: number;
  reason?: string;
  headers?: Record<string, string>;
  body?: string;
}

type Behaviour = (asked: Asked, response: ServerResponse) => Reply | 'taken' | Promise<Reply | 'taken'>;

function json(body: unknown, status = 200, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

function record({ applicant, quoted }: Asked, consumer: object = {}): object {
  const { reportReferenceNumber, consumerId } = REFERENCE;
  return {
    returnCode: 'Record',
    reportReferenceNumber,
    applicants: [
      {
        applicantId: applicant.applicantId,
        consumerId,
        consumer: { ssn: applicant.ssn, accounts: [REPORTED], remark: quoted, ...consumer },
      },
    ],
  };
}

/** Faults by the SSN's last four digits, without those that the sandbox itself has. */
export const BEHAVIOURS = {
  '6001': ({ quoted }) => ({ status: 500, headers: { 'content-type': 'text/html' }, body: `<pre>${quoted}</pre>` }),
  '6002': ({ quoted }) => json({ returnCode: 'Error', errorMessage: quoted }, 400),
  '6003': ({ quoted }) => json({ detail: quoted, ...STRANGER }, 403),
  '6004': ({ quoted }) => ({ status: 302, headers: { location: `/elsewhere?${encodeURIComponent(quoted)}` } }),
  '6005': ({ quoted }) => ({ status: 200, headers: { 'content-type': 'text/plain' }, body: quoted }),
  '6006': ({ quoted }) => ({ ...json({}), body: `{"returnCode":"Record","consumer":${quoted},,` }),
  '6007': ({ applicant }) => ({ ...json({}), body: `{"${applicant.ssn}":1,"${applicant.ssn}":2}` }),
  '6008': (asked) => json({ ...record(asked), returnCode: CODE }),
  '6009': (asked) => json({ ...record(asked), customerTraceNumber: asked.applicant.ssn, productCode: STRANGER.last }),
  '6010': ({ quoted, applicant }) => ({
    status: 503,
    reason: `Sorry ${applicant.ssn}`,
    headers: { 'x-request': quoted, 'retry-after': applicant.ssn },
  }),
  '6011': ({ quoted }, response) => {
    response.socket?.end(`HTTP/9 ${quoted}\r\n${quoted}: \u0000\r\n\r\n`);
    return 'taken';
  },
  '6012': ({ quoted }) => ({ status: 200, headers: { 'content-encoding': 'gzip' }, body: quoted }),
  '6013': ({ quoted, applicant }) => json({ quoted }, 429, { 'retry-after': applicant.ssn }),
  '6014': ({ quoted }) => json({ quoted }, 401, { 'www-authenticate': `Bearer error="${encodeURIComponent(quoted)}"` }),
  '6015': (asked) => json(record(asked)),
  '6016': (asked) => json(record(asked, { ssn: STRANGER.ssn, names: [{ first: 'Ada', last: STRANGER.last }] })),
} satisfies Record<string, Behaviour>;

export interface HostileGateway {
  url: string;
  port: number;
  /** Everything that reached it, as it came. */
  received: string[];
  /** The next request of this SSN is held up until `release`: it has been received. */
  hold(lastFour: string): { reached: Promise<void>; release(): void };
  close(): Promise<void>;
}

/** @param sandboxUrl where the tokens of {@link SANDBOX_AUDIENCE} come from */
export async function startHostileGateway(sandboxUrl: string, seen: SeenSentinels): Promise<HostileGateway> {
  const received: string[] = [];
  const held = new Map<string, { reach(): void; released: Promise<void> }>();
  const tokens = tokenService(sandboxUrl, seen);
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const quoted = JSON.stringify({ authorization: request.headers.authorization ?? '', body: JSON.parse(body) });
    received.push(quoted);
    if (request.url === '/oauth/token') return send(response, await tokens(body));
    const { customerTraceNumber, applicants } = JSON.parse(body);
    const asked: Asked = { quoted, customerTraceNumber, applicant: applicants[0] };
    const lastFour = asked.applicant.ssn.slice(-4);
    const stop = held.get(lastFour);
    held.delete(lastFour);
    stop?.reach();
    await stop?.released;
    const behaviour: Behaviour = BEHAVIOURS[lastFour as keyof typeof BEHAVIOURS] ?? BEHAVIOURS['6015'];
    const reply = await behaviour(asked, response);
    if (reply !== 'taken') send(response, reply);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    hold(lastFour) {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      held.set(lastFour, { reach: reached.resolve, released: released.promise });
      return { reached: reached.promise, release: released.resolve };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function send(response: ServerResponse, { status, reason, headers = {}, body = '' }: Reply): void {
  if (reason === undefined) response.writeHead(status, headers);
  else response.writeHead(status, reason, headers);
  response.end(body);
}

/** Quotes each request, and so the client secret; the good tokens are noted. */
function tokenService(sandboxUrl: string, seen: SeenSentinels): (body: string) => Promise<Reply> {
  const good = (token: string) => ({ access_token: token, token_type: 'Bearer', expires_in: 28_800, scope: token });
  const down = (quoted: string): Reply => ({ status: 500, body: quoted });
  const refusals: ((quoted: string) => Reply)[] = [
    ...[down, down, down],
    (quoted) => ({ status: 200, headers: { 'content-type': 'text/html' }, body: `<p>${quoted}` }),
    (quoted) => json({ error: 'invalid_client', error_description: quoted, hint: REFUSED_TOKEN }, 401),
    (quoted) => json({ ...good(REFUSED_TOKEN), token_type: quoted }),
    (quoted) => json({ quoted }, 429, { 'retry-after': STRANGER.ssn }),
  ];
  let refused = 0;
  return async (body) => {
    const { audience } = JSON.parse(body);
    if (audience === REFUSED_AUDIENCE) {
      const next = refusals[Math.min(refused++, refusals.length - 1)];
      return next ? next(body) : json({}, 401);
    }
    if (audience !== SANDBOX_AUDIENCE) return json(good(TOKEN));
    const answer = await fetch(`${sandboxUrl}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const issued = (await answer.json()) as { access_token: string };
    seen.add('access token', issued.access_token);
    // Each part by itself, but for the first: every token begins like that.
    for (const part of issued.access_token.split('.').slice(1)) seen.add('part of an access token', part);
    return json(issued);
  };
}
