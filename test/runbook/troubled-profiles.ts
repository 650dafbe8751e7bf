/** Profiles whose servers are not as they should be, for the holds that come of that (held-journeys.ts). */
import { createServer, type Server, type Socket } from 'node:net';

/** @param deadUrl nothing listens there; `plainUrl`: it speaks no TLS */
export function troubledProfiles({ deadUrl, plainUrl }: { deadUrl: string; plainUrl: string }) {
  const usual = { environment: 'sandbox', customerId: 'SANDBOX0001', limits: { connectTimeoutMs: 1_000 } };
  return {
    profiles: {
      unreachable: { ...usual, baseUrl: deadUrl },
      tokenless: { ...usual, authUrl: deadUrl },
      untrusted: { ...usual, baseUrl: plainUrl.replace('http:', 'https:') },
      moving: usual,
      flagging: { ...usual, ssnMismatch: 'flag' },
    },
  };
}

export async function speaksNoTls(): Promise<Server> {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('this is no TLS'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

export function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
