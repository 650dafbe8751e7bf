/** The listening socket. It can be closed for a while, like a gateway that is down. */
import type { Server } from 'node:http';

export class Listener {
  readonly #server: Server;
  readonly #host: string;
  #port = 0;
  #reopen: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(server: Server, host: string) {
    this.#server = server;
    this.#host = host;
  }

  /** Sets the port to come back to. */
  set port(port: number) {
    this.#port = port;
  }

  /** Whether connections are refused at present; answers then end their connections. */
  get refusing(): boolean {
    return this.#reopen !== undefined;
  }

  /** Refuses connections at once and closes idle ones, for so many milliseconds. */
  refuseFor(forMs: number): void {
    if (this.#closed) return;
    clearTimeout(this.#reopen);
    if (this.#server.listening) this.#server.close();
    this.#server.closeIdleConnections();
    this.#reopen = setTimeout(() => this.#listen(), forMs);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#reopen);
    this.#reopen = undefined;
  }

  #listen(): void {
    this.#reopen = undefined;
    if (this.#closed) return;
    const retry = (): void => {
      // Another process has the port for the moment.
      this.#reopen = setTimeout(() => this.#listen(), 50);
    };
    this.#server.once('error', retry);
    this.#server.listen(this.#port, this.#host, () => this.#server.off('error', retry));
  }
}
