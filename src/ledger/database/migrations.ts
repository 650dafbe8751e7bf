/** The ledger's tables, as a list of versions; both engines run the same ones. Instants are milliseconds since 1970. */
import type { SqlDialect } from './sql-session.ts';
import { auditTables } from './tables/audit.ts';
import { consentTables } from './tables/consents.ts';
import { decisionTables } from './tables/decisions.ts';
import { identityTables } from './tables/identity.ts';
import { inquiryTables } from './tables/inquiries.ts';
import { pauseTables } from './tables/pauses.ts';
import { reportTables } from './tables/reports.ts';
import { shareTables } from './tables/shares.ts';
import { workTables } from './tables/work-for-people.ts';

/**
 * Until 1.0.0 is tagged the first version changes in place. Afterwards an entry is never changed: a new version is a new
 * entry. Workers of the version before run on beside it (docs/deploy.md, "Upgrading"). So an entry removes nothing that
 * they need to record how an attempt ended. Their columns of `inquiries`, `attempts`, `reports` and `report_references`
 * stay, and new columns take NULL.
 */
export const MIGRATIONS: readonly ((dialect: SqlDialect) => string[])[] = [firstTables];

/**
 * Versions of the tables that bring a fence which older code does not keep, or remove something that it needs. Code
 * below the highest of them writes nothing more.
 */
export const WITHOUT_OLDER_WRITERS: readonly number[] = [];

function firstTables(dialect: SqlDialect): string[] {
  return [
    ...dialect.triggerPrelude,
    ...identityTables(dialect),
    ...inquiryTables(dialect),
    ...decisionTables(dialect),
    ...consentTables(dialect),
    ...shareTables(dialect),
    ...reportTables(dialect),
    ...auditTables(dialect),
    ...pauseTables(dialect),
    ...workTables(dialect),
  ];
}
