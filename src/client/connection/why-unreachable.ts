/** Says why Temporal cannot be reached, by what gRPC says of a first call. */
import { Connection } from '@temporalio/client';
import type { ClientSettings } from '../../config/client.ts';
import { CallError, createUnreachableError, hasCode, TEMPORAL_AWAY, translateServerError } from './errors.ts';

type ConnectionOptions = ClientSettings['temporal']['connectionOptions'];

/** The rule that an address breaks, or `null`: `host:port` or `[IPv6]:port`. The port may be left out. */
export function checkTemporalAddress(address: string): string | null {
  const [matched, digits = '7233'] = /^(?:\[[\da-fA-F:.]+\]|[^\s:/[\]@]+)(?::(\d{1,5}))?$/.exec(address) ?? [];
  const isPort = Number(digits) >= 1 && Number(digits) <= 65_535;
  return matched && isPort ? null : 'must be host:port, such as 127.0.0.1:7233, without a scheme or a path';
}

/** Translates the error of a first call, or of certificates that cannot be used. */
export function connectError(error: unknown, to: ConnectionOptions): unknown {
  const isOfOpenSsl = error instanceof Error && 'code' in error && /^ERR_OSSL/.test(String(error.code));
  const translated = isOfOpenSsl ? undefined : translateServerError(error);
  return isOfOpenSsl || hasCode(translated, ...TEMPORAL_AWAY) ? createUnreachableError(error, to) : translated;
}

/** Calls Temporal once more, as a client does. */
export async function diagnoseUnreachable(to: ConnectionOptions, withinMs: number): Promise<unknown> {
  let connection: Connection | undefined;
  try {
    const opened = Connection.lazy({ ...to, interceptors: [] });
    connection = opened;
    await opened.withDeadline(Date.now() + withinMs, () => opened.workflowService.getSystemInfo({}));
    const reason = `${to.address}: it answers a client; a worker’s certificates must be X.509 version 3`;
    return new CallError('tlsFailed', { reason });
  } catch (error) {
    return connectError(error, to);
  } finally {
    await connection?.close();
  }
}
