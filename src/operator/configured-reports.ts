/** Where the environment says that reports are read: the codec server where one is named, else the ledger. */

import type { StoredReports } from '../client/reports/stored-report.ts';
import { loadReportAccess } from '../config/config.ts';
import { openLedgerAccess } from './configured-ledger.ts';
import { ledgerReports } from './ledger-reports.ts';

/**
 * Reads reports without Temporal. The caller closes it.
 *
 * @throws ConfigError; of its methods also what opening the ledger throws
 */
export async function openConfiguredReports(env: NodeJS.ProcessEnv): Promise<StoredReports & AsyncDisposable> {
  const found = loadReportAccess(env);
  if (found.kind === 'ledger') {
    const ledger = await openLedgerAccess(found.access);
    return { ...ledgerReports(async () => ledger), [Symbol.asyncDispose]: () => ledger.close() };
  }
  const [{ CodecServerConnection }, { remoteReports }] = await Promise.all([
    import('../client/connection/codec-server-connection.ts'),
    import('../client/reports/remote-reports.ts'),
  ]);
  const connection = new CodecServerConnection(found.server, found.namespace);
  return { ...remoteReports(connection), [Symbol.asyncDispose]: () => connection.close() };
}
