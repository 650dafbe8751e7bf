/** The codec server of a development environment: what makes its Temporal UI readable. */
import { join } from 'node:path';
import { defined } from '../../base/defined.ts';
import { startCodecServer } from '../../codec/server.ts';
import { KeyRingError } from '../../protection/errors.ts';
import { WatchedKeyRing } from '../../protection/keys/watched-key-ring.ts';

export interface DevCodecServerOptions {
  dataDir: string;
  namespace: string;
  /** The key ring must be there already; it is followed while the server runs. */
  keyRingFile: string;
  port: number;
  /** The UI, whose pages alone may call; `null` without one. */
  uiPort: number | null;
  /** Its path of before: tabs that are open, and an address that a person has copied, go on working. */
  segment?: string | undefined;
  /** Called with what a person should know; never a value, a key or the path. */
  onEvent: (message: string) => void;
}

export interface DevCodecServer {
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
  const { dataDir, namespace, port, segment, uiPort, onEvent } = options;
  const keys = await WatchedKeyRing.open(options.keyRingFile, {
    onReloadFailed: (error) => onEvent(`the key ring cannot be read again, the keys before stay: ${told(error)}`),
  });
  try {
    const server = await startCodecServer({
      environment: 'sandbox',
      host: '127.0.0.1',
      port,
      keys,
      authentication: { kind: 'path', ...defined({ segment }) },
      namespaces: [namespace],
      uiOrigins: uiPort === null ? [] : ['127.0.0.1', 'localhost'].map((host) => `http://${host}:${uiPort}`),
      audit: { file: join(dataDir, 'codec-audit.log') },
      onUnknownKey: (keyId) => onEvent(`the codec server lacks the key ${keyId}, which a payload was encrypted under`),
      onUnexpected: (error) => onEvent(`the codec server has failed: ${told(error)}`),
    });
    return {
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

/** Texts of other errors may quote what they were about. */
function told(error: unknown): string {
  if (error instanceof KeyRingError) return error.message;
  return error instanceof Error ? error.name : 'unknown error';
}
