/** A wire that a test can cut, slow down and break, between a process and a server that it needs. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How an answer ends before its end. `hang`: nothing more comes, and nothing is closed. */
export interface Breakage {
  how: 'reset' | 'fin' | 'hang';
  /** So many bytes of it arrive. */
  afterBytes: number;
  /** How many answers; one that is shorter than that is left whole and not counted. */
  times: number;
}

export interface TcpProxy {
  port: number;
  /** Ends every connection, and each new one at once, until `heal`. */
  cut(): void;
  /** From now on what arrives on any connection is lost, and the connection stays open: the other end is gone. */
  fallSilent(): void;
  /** Each piece takes so much longer from now on. */
  slowDown(delayMs: number): void;
  /** Connections that lost something stay silent. */
  heal(): void;
  breakAnswers(breakage: Breakage): void;
  /** Passes on what holds this text, and cuts once the server's answer, which holds it as well, is there, before it comes back. */
  cutAfterSending(text: string): Promise<void>;
  close(): Promise<void>;
}

export interface TcpProxyOptions {
  /** Returns what is called when that connection has closed. */
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
    // What a cut does to the other end is no news.
    socket.on('error', () => {
      wasReset = true;
    });
    socket.on('close', () => {
      sockets.delete(socket);
      onClose(wasReset);
    });
  };
  /** In the order of their coming, each as late as the wire is slow. */
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
        // Answers to statements that went along come first. A cut by then would take the end from the server's hands.
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
      // What was never sent must not cut a wire that has been healed.
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
