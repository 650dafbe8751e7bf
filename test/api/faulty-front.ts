/** A proxy before the API that acts as a bad network: it loses answers and replaces them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** `lost`: only the answer is lost. `away`: the API's 503. `garbage`: a proxy's error page. `pending`: a consent's 202. */
export type Fault = 'lost' | 'away' | 'garbage' | 'pending';

export interface FaultyFront {
  url: string;
  /** The method and path of each request that arrived. */
  seen: string[];
  /** Sets one fault for each of the next requests that begin with this text. */
  put(request: string, ...faults: Fault[]): void;
  close(): Promise<void>;
}

const OWN: Record<Exclude<Fault, 'lost'>, [status: number, headers: Record<string, string>, body: string]> = {
  away: [
    503,
    { 'content-type': 'application/problem+json', 'retry-after': '1' },
    JSON.stringify({
      ...{ type: '/v1/reference#problem-ledgerUnavailable', title: 'away', status: 503, detail: 'away' },
      ...{ code: 'ledgerUnavailable', requestId: 'R-1' },
    }),
  ],
  garbage: [502, { 'content-type': 'text/html' }, '<h1>Bad Gateway</h1>'],
  pending: [202, { 'content-type': 'application/json' }, '{"answer":"pending","duplicate":false,"recorded":false}'],
};

export async function startFaultyFront(api: string): Promise<FaultyFront> {
  const seen: string[] = [];
  const planned: [request: string, fault: Fault][] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const line = `${request.method} ${request.url}`;
    seen.push(line);
    const body = await buffer(request);
    const next = planned.findIndex(([begin]) => line.startsWith(begin));
    const [, fault] = next < 0 ? [] : (planned.splice(next, 1)[0] ?? []);
    if (fault && fault !== 'lost') {
      const [status, headers, own] = OWN[fault];
      response.writeHead(status, headers).end(own);
      return;
    }
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers as Record<string, string>;
    const method = request.method ?? 'GET';
    const passed = await fetch(api + request.url, { method, headers, ...(body.length > 0 ? { body } : {}) });
    const content = Buffer.from(await passed.arrayBuffer());
    if (fault === 'lost') request.socket.destroy();
    else response.writeHead(passed.status, Object.fromEntries(passed.headers)).end(content);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    put: (request, ...faults) => void planned.push(...faults.map((fault) => [request, fault] as [string, Fault])),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
