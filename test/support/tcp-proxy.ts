/** A TCP proxy between a process and a server, which a test can cut, slow down and break. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How an answer breaks off. `hang`: nothing more arrives, and the connection stays open. */
export interface Breakage {
  how: 'reset' | 'fin' | 'hang';
  /** The number of bytes that arrive. */
  afterBytes: number;
  /** The number of answers. An answer shorter than `afterBytes` is left whole and not counted. */
  times: number;
}

export interface TcpProxy {
  port: number;
  /** Closes every connection, and each new connection at once, until `heal`. */
  cut(): void;
  /** Drops all data of every connection from now on and keeps the connections open, like a vanished host. */
  fallSilent(): void;
  /** Delays each chunk from now on. */
  slowDown(delayMs: number): void;
  /** Ends all faults. Connections that lost data stay silent. */
  heal(): void;
  breakAnswers(breakage: Breakage): void;
  /** Passes this text on, and cuts when the server's answer has the text too, before the answer is passed back. */
  cutAfterSending(text: string): Promise<void>;
  close(): Promise<void>;
}

export interface TcpProxyOptions {
  /** Called for each connection. Returns a function that is called when the connection has closed. */
  onConnection?(): () => void;
}

export async function startTcpProxy(
  target: { host: string; port: number },
  options: TcpProxyOptions = {},
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let isSilent = false;
  let delayMs = 0;
  let breakages: Breakage[] = [];
  let watched: { text: string; seen(): void } | undefined;
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  const keep = (socket: Socket, onClose: (wasReset: boolean) => void) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    let wasReset = false;
    // A cut causes errors at the other end, which are expected.
    socket.on('error', () => {
      wasReset = true;
    });
    socket.on('close', () => {
      sockets.delete(socket);
      onClose(wasReset);
    });
  };
  /** Passes chunks on in their order, each after the delay. */
  const lane = () => {
    let last: Promise<unknown> | undefined;
    return (pass: () => void) => {
      if (delayMs === 0 && !last) return pass();
      const mine = (last ?? Promise.resolve()).then(() => delay(delayMs, undefined, { ref: false })).then(pass);
      last = mine;
      void mine.finally(() => {
        if (last === mine) last = undefined;
      });
    };
  };
  const server = createServer((near) => {
    const onClose = options.onConnection?.();
    if (isCut) {
      near.destroy();
      onClose?.();
      return;
    }
    const far = connect(target);
    const [there, back] = [lane(), lane()];
    let isLast = false;
    let isDeaf = false;
    let answeredBytes = 0;
    keep(near, () => {
      onClose?.();
      if (!isLast) far.destroy();
    });
    keep(far, (wasReset) => back(() => (wasReset ? near.resetAndDestroy() : near.end())));
    near.on('data', (chunk) => {
      answeredBytes = 0;
      isDeaf ||= isSilent;
      if (isDeaf) return;
      if (watched && chunk.includes(watched.text)) {
        isLast = true;
        const { text, seen } = watched;
        watched = undefined;
        // Answers to earlier statements arrive first. An earlier cut would abort the server's last statement.
        far.on('data', (answer) => {
          if (!answer.includes(text)) return;
          cut();
          seen();
        });
        near.destroy();
      }
      there(() => far.write(chunk));
    });
    far.on('data', (chunk) => {
      isDeaf ||= isSilent;
      if (isLast || isDeaf) return;
      const breakage = breakages.find(({ afterBytes }) => answeredBytes + chunk.length > afterBytes);
      const kept = breakage ? chunk.subarray(0, Math.max(0, breakage.afterBytes - answeredBytes)) : chunk;
      answeredBytes += chunk.length;
      back(() => near.write(kept));
      if (!breakage) return;
      breakage.times -= 1;
      breakages = breakages.filter(({ times }) => times > 0);
      isDeaf = true;
      if (breakage.how === 'fin') back(() => near.end());
      if (breakage.how === 'reset') back(() => near.resetAndDestroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    fallSilent: () => {
      isSilent = true;
    },
    slowDown: (ms) => {
      delayMs = ms;
    },
    heal: () => {
      isCut = false;
      isSilent = false;
      delayMs = 0;
      breakages = [];
      // A text that was never sent must not cut the connection after `heal`.
      watched = undefined;
    },
    breakAnswers: (breakage) => void breakages.push({ ...breakage }),
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
