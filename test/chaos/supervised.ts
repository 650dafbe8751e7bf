/** A program that is started again whenever it ends, as a service manager would, until it is stopped for good. */
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type OwnedChild, startOwnedChild } from '../../src/local/child-process.ts';

export interface ProgramOptions {
  name: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Standard output and standard error, appended: what a killed program had written is there. */
  logFile: string;
  /** Receives the messages that the process sends over its channel. */
  onMessage?(message: unknown): void;
}

/** Between its end and the next start: a program that cannot start yet is no busy loop. */
const RESTART_AFTER_MS = 250;
const STOP_GRACE_MS = 15_000;

export class Supervised {
  readonly name: string;
  readonly #options: ProgramOptions;
  #child: OwnedChild | undefined;
  #isWanted = false;
  #isFrozen = false;
  #keeper: Promise<void> | undefined;
  /** Lets it start again before its time is over. */
  #downUntil = 0;
  /** How often it has ended although no caller stopped it. */
  endedByItself = 0;
  #isExpected = false;

  constructor(options: ProgramOptions) {
    this.name = options.name;
    this.#options = options;
  }

  start(): void {
    this.#isWanted = true;
    this.#downUntil = 0;
    this.#keeper ??= this.#keep();
  }

  /** `message` over the channel to it, where it runs. */
  tell(message: object): void {
    // It may be dead by now.
    if (this.#child?.process.connected) this.#child.process.send(message, () => {});
  }

  /** Ends it by this signal; it comes back `downMs` later. Resolves when it has ended. */
  async end(signal: 'SIGKILL' | 'SIGTERM', downMs: number): Promise<void> {
    const child = this.#child;
    if (!child) return;
    this.#isExpected = true;
    this.#downUntil = performance.now() + downMs;
    this.thaw();
    child.process.kill(signal);
    const timer = setTimeout(() => child.process.kill('SIGKILL'), STOP_GRACE_MS);
    await child.ended;
    clearTimeout(timer);
  }

  freeze(): void {
    this.#isFrozen = true;
    this.#child?.process.kill('SIGSTOP');
  }

  thaw(): void {
    if (!this.#isFrozen) return;
    this.#isFrozen = false;
    this.#child?.process.kill('SIGCONT');
  }

  /** For good. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    await this.end('SIGTERM', 0);
    await this.#keeper;
  }

  async #keep(): Promise<void> {
    while (this.#isWanted) {
      const waitMs = this.#downUntil - performance.now();
      if (waitMs > 0) {
        await delay(Math.min(waitMs, RESTART_AFTER_MS));
        continue;
      }
      this.#isExpected = false;
      this.#child = await this.#spawn();
      await this.#child.ended;
      this.#child = undefined;
      if (this.#isExpected || !this.#isWanted) continue;
      this.endedByItself += 1;
      await delay(RESTART_AFTER_MS);
    }
  }

  async #spawn(): Promise<OwnedChild> {
    const { args, env, logFile, onMessage } = this.#options;
    const log = openSync(logFile, 'a', 0o600);
    try {
      const child = await startOwnedChild(process.execPath, args, {
        env: { ...process.env, NODE_OPTIONS: '', ...env },
        stdio: ['ignore', log, log, 'ipc'],
      });
      if (onMessage) child.process.on('message', onMessage);
      return child;
    } finally {
      closeSync(log);
    }
  }
}
