/** The codec server of a development environment: what makes its Temporal UI readable. */
import { join } from 'node:path';
import { type RunningCodecServer, startCodecServer } from '../../codec/server.ts';
import { KeyRingError } from '../../protection/errors.ts';
import { WatchedKeyRing } from '../../protection/keys/watched-key-ring.ts';
import { freePorts } from '../free-ports.ts';
import type { DevMemory, DevPorts } from './dev-memory.ts';

export interface DevCodecServerOptions {
  dataDir: string;
  namespace: string;
  /** The key ring must be there already; it is followed while the server runs. */
  keyRingFile: string;
  /** Of the environment's other servers, which may not be up yet: none of them is taken. */
  ports: DevPorts;
  /** Without a UI no page may call. */
  headless: boolean;
  /** Its address is taken again: tabs that are open, and what a person has copied, go on working. */
  memory: DevMemory | null;
  /** Called with what a person should know; never a value, a key or the path. */
  onEvent: (message: string) => void;
}

export interface DevCodecServer {
  port: number;
  /** The unguessable part of `endpoint`: a secret. */
  segment: string;
  /** For `--ui-codec-endpoint` of the Temporal server and `--codec-endpoint` of its CLI. */
  endpoint: string;
  close(): Promise<void>;
}

/**
 * Starts the codec server on loopback. The audit log is `<dataDir>/codec-audit.log`.
 *
 * @throws KeyRingError
 */
export async function startDevCodecServer(options: DevCodecServerOptions): Promise<DevCodecServer> {
  const { onEvent } = options;
  const keys = await WatchedKeyRing.open(options.keyRingFile, {
    onReloadFailed: (error) => onEvent(`the key ring cannot be read again, the keys before stay: ${told(error)}`),
  });
  try {
    const server = await listen(options, keys);
    return {
      port: server.port,
      segment: (server.path as string).slice(1),
      endpoint: server.endpoint,
      close: async () => {
        await server.close();
        keys.close();
      },
    };
  } catch (error) {
    keys.close();
    throw error;
  }
}

async function listen(options: DevCodecServerOptions, keys: WatchedKeyRing): Promise<RunningCodecServer> {
  const { memory, ports, onEvent } = options;
  const reserved = Object.values(ports);
  // One more than those that it may not have.
  const free = (await freePorts(reserved.length + 1)).find((port) => !reserved.includes(port)) as number;
  const remembered = memory?.codecPort;
  if (remembered === undefined) return start(options, keys, free);
  if (!reserved.includes(remembered)) {
    try {
      return await start(options, keys, remembered);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    }
  }
  onEvent(`port ${remembered} is taken: the codec server is on ${free} instead`);
  return start(options, keys, free);
}

function start(options: DevCodecServerOptions, keys: WatchedKeyRing, port: number): Promise<RunningCodecServer> {
  const { dataDir, headless, memory, namespace, onEvent, ports } = options;
  const segment = memory?.codecSegment;
  return startCodecServer({
    environment: 'sandbox',
    host: '127.0.0.1',
    port,
    keys,
    authentication: { kind: 'path', ...(segment === undefined ? {} : { segment }) },
    namespaces: [namespace],
    uiOrigins: headless ? [] : ['127.0.0.1', 'localhost'].map((host) => `http://${host}:${ports.uiPort}`),
    audit: { file: join(dataDir, 'codec-audit.log') },
    onUnknownKey: (keyId) => onEvent(`the codec server lacks the key ${keyId}, which a payload was encrypted under`),
    onUnexpected: (error) => onEvent(`the codec server has failed: ${told(error)}`),
  });
}

/** Texts of other errors may quote what they were about. */
function told(error: unknown): string {
  if (error instanceof KeyRingError) return error.message;
  return error instanceof Error ? error.name : 'unknown error';
}
