/** The Temporal server of a world: killed at any instant, and back on the same port and file. */
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../src/local/free-ports.ts';
import { startTemporalServer, type TemporalServer } from '../../src/local/temporal/temporal-server.ts';

export interface TemporalHouse {
  address: string;
  namespace: string;
  /** SIGKILL, and back `downMs` later. Resolves when it answers again. */
  restart(downMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** Between two starts another program may take the port for a connection of its own. */
const START_TRIES = 20;
const START_AGAIN_MS = 500;

/** A server looks every three minutes for runs that are pinned to an old version: longer than a storm. */
const SOON_DRAINED = {
  'matching.wv.VersionDrainageStatusVisibilityGracePeriod': '2s',
  'matching.wv.VersionDrainageStatusRefreshInterval': '2s',
};

export async function startTemporalHouse(dataDir: string): Promise<TemporalHouse> {
  const [port = 0] = await freePorts(1);
  let server: TemporalServer | undefined = await start(dataDir, port);
  let isStopped = false;
  const { address, namespace } = server;
  return {
    address,
    namespace,
    async restart(downMs) {
      const running = server;
      if (!running) return;
      server = undefined;
      process.kill(running.pid, 'SIGKILL');
      await running.ended;
      await delay(downMs);
      if (isStopped) return;
      server = await start(dataDir, port);
      if (isStopped) await server.stop();
    },
    async stop() {
      isStopped = true;
      await server?.stop();
    },
  };
}

/** A server that another program starts and stops. */
export function hiredHouse({ address, namespace }: Pick<TemporalHouse, 'address' | 'namespace'>): TemporalHouse {
  const restart = () => Promise.reject(new Error('not a server of ours'));
  return { address, namespace, restart, stop: async () => {} };
}

async function start(dataDir: string, port: number): Promise<TemporalServer> {
  for (let tries = 1; ; tries++) {
    try {
      return await startTemporalServer({ headless: true, dataDir, port, dynamicConfig: SOON_DRAINED });
    } catch (error) {
      if (tries === START_TRIES) throw error;
      await delay(START_AGAIN_MS);
    }
  }
}
