/** Who saw what: one JSON line for each access, on its own way. Never a value. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { pino } from 'pino';

/** Where the lines go. A file is opened for appending, and made for its owner alone. */
export type AuditDestination = { file: string } | { write(line: string): void };

export interface AccessRecord {
  /** `sub` of the token; absent where the caller was not authenticated. */
  subject?: string;
  issuer?: string;
  /** The peer's, or what a trusted proxy says of it. */
  address: string;
  route: string;
  /** As the caller gave it, or made here: it is in the answer, too. */
  requestId?: string;
  namespace?: string;
  journeyId?: string;
  productCode?: string;
  /** Of the report, or list of changes, that was given out, as the ledger has it: never a caller's own words. */
  customerTraceNumber?: string;
  /** How many payloads, reports or references. */
  count?: number;
  /** Payloads that could not be decoded. */
  undecodable?: number;
  /** The report was served again, for a purpose that the ledger has. */
  reissued?: true;
  /** Whether what is personal was given out. */
  revealed?: boolean;
  status: number;
  /** Why it was refused. */
  refused?: string;
}

export interface AuditLog {
  /** Throws where the line cannot be written: then nothing is given out either. */
  record(access: AccessRecord): void;
  close(): void;
}

export function openAuditLog(destination: AuditDestination): AuditLog {
  const file = 'file' in destination ? openSync(destination.file, 'a', 0o600) : undefined;
  const stream =
    'write' in destination ? destination : { write: (line: string) => writeAll(file as number, Buffer.from(line)) };
  const logger = pino({ base: null, timestamp: () => `,"at":"${new Date().toISOString()}"` }, stream);
  return {
    record: (access) => logger.info({ audit: access }, 'access'),
    close: () => {
      if (file !== undefined) closeSync(file);
    },
  };
}

/** The kernel may take a part. */
function writeAll(file: number, bytes: Uint8Array): void {
  for (let from = 0; from < bytes.byteLength; ) from += writeSync(file, bytes, from);
}
