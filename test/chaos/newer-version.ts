/** The version that a world is upgraded to in the middle of its storm: docs/deploy.md, "Upgrading". */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { buildNextVersion } from '../support/next-version.ts';
import { CLI } from './worker-programs.ts';

/** An operator repeats `setup` while the ledger is away. */
const SETUP_TRIES = 20;
const SETUP_AGAIN_MS = 1_000;
const SETUP_LIMIT_MS = 30_000;

export class NewerVersion {
  isMigrated = false;
  readonly #tree: string;
  readonly #upgraded = new Set<number>();

  private constructor(tree: string) {
    this.#tree = tree;
  }

  static async build(): Promise<NewerVersion> {
    return new NewerVersion(await buildNextVersion());
  }

  /** The program of a worker, from 0: this version's until it is upgraded. */
  cliOf(worker: number): string {
    return this.#upgraded.has(worker) ? join(this.#tree, 'src/cli.ts') : CLI;
  }

  /** For programs that claim nothing. The migrated ledger refuses older versions of them when they open it. */
  cli(): string {
    return this.isMigrated ? join(this.#tree, 'src/cli.ts') : CLI;
  }

  /** Applies from its next start. */
  upgrade(worker: number): void {
    this.#upgraded.add(worker);
  }

  /** Brings the ledger's tables to this version. Older workers run on beside it. */
  async migrate(env: NodeJS.ProcessEnv): Promise<void> {
    const args = [join(this.#tree, 'src/cli.ts'), 'setup', '--no-temporal', '--json'];
    const options = { env: { ...process.env, NODE_OPTIONS: '', ...env }, timeout: SETUP_LIMIT_MS };
    for (let tries = 1; ; tries++) {
      try {
        await promisify(execFile)(process.execPath, args, options);
        break;
      } catch (error) {
        if (tries === SETUP_TRIES) throw error;
        await delay(SETUP_AGAIN_MS);
      }
    }
    this.isMigrated = true;
  }

  /** Opens the ledger with the newer version once it is migrated, because an older program is refused. */
  async openLedger(...options: Parameters<typeof openLedger>): ReturnType<typeof openLedger> {
    if (!this.isMigrated) return openLedger(...options);
    const module = (await import(pathToFileURL(join(this.#tree, 'src/ledger/open-ledger.ts')).href)) as {
      openLedger: typeof openLedger;
    };
    return module.openLedger(...options);
  }

  remove(): Promise<void> {
    return rm(this.#tree, { recursive: true, force: true });
  }
}
