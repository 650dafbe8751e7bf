/**
 * The audit log: one JSON line for each access, apart from other logs. It says who saw which record, and never a value.
 */
import { appendFileSync, closeSync, openSync } from 'node:fs';

/** The destination of the lines. A file is opened for appending, and made for its owner alone. */
export type AuditDestination = { file: string } | { write(line: string): void };

export interface AccessRecord {
  /** `sub` of the token; absent where the caller was not authenticated. */
  subject?: string;
  issuer?: string;
  /** The peer's, or what a trusted proxy says of it. */
  address: string;
  route: string;
  /** From the caller, or made here. The answer has it, too. */
  requestId?: string;
  namespace?: string;
  journeyId?: string;
  productCode?: string;
  /** From the ledger, for the report or list of changes that was given out: never the caller's own words. */
  customerTraceNumber?: string;
  /** How many payloads, reports or references. */
  count?: number;
  /** Payloads that could not be decoded. */
  undecodable?: number;
  /** The report was served again, for a purpose that the ledger has. */
  reissued?: true;
  /** Whether personal data was given out. */
  revealed?: boolean;
  status: number;
  /** Why it was refused. */
  refused?: string;
}

export type AuditLog = ReturnType<typeof openAuditLog>;

export function openAuditLog(destination: AuditDestination) {
  const file = 'file' in destination ? openSync(destination.file, 'a', 0o600) : undefined;
  // It repeats the write, since the kernel may accept only a part.
  const to = 'write' in destination ? destination : { write: (line: string) => appendFileSync(file as number, line) };
  /** After a write that failed, perhaps in the midst of its line, the next one begins a line of its own. */
  let start = '';
  return {
    /** Throws where the line cannot be written: then nothing is given out either. */
    record(audit: AccessRecord): void {
      // The level and the names of pino, as in the other logs.
      const line = JSON.stringify({ level: 30, at: new Date().toISOString(), audit, msg: 'access' });
      const before = start;
      start = '\n';
      to.write(`${before}${line}\n`);
      start = '';
    },
    close(): void {
      if (file !== undefined) closeSync(file);
    },
  };
}
