/** A wire that a test can cut, between a process and a server that it needs. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  port: number;
  /** Ends every connection, and each new one at once, until `heal`. */
  cut(): void;
  heal(): void;
  /** Passes on what holds this text, and cuts before the server's answer comes back. Resolves when it has. */
  cutAfterSending(text: string): Promise<void>;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let watched: { text: string; seen(): void } | undefined;
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  const keep = (socket: Socket, onClose: () => void) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    // What a cut does to the other end is no news.
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      onClose();
    });
  };
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(target);
    let isLast = false;
    keep(near, () => isLast || far.destroy());
    keep(far, () => near.destroy());
    near.on('data', (chunk) => {
      if (watched && chunk.includes(watched.text)) {
        isLast = true;
        const { seen } = watched;
        watched = undefined;
        far.once('data', () => {
          cut();
          seen();
        });
        near.destroy();
      }
      far.write(chunk);
    });
    far.on('data', (chunk) => isLast || near.write(chunk));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    heal: () => {
      isCut = false;
    },
    cutAfterSending(text) {
      const { promise, resolve } = Promise.withResolvers<void>();
      watched = { text, seen: resolve };
      return promise;
    },
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
