/** The roles of deploy/postgres/roles.sql in the database of a test. */
import { readFile } from 'node:fs/promises';
import pg from 'pg';

export const LEDGER_ROLES = ['ledger_worker', 'ledger_api'] as const;

const GRANTS = new URL('../../deploy/postgres/roles.sql', import.meta.url);

/** Makes the roles, and returns each one's database address. A server's roles may log in to all its databases. */
export async function makeLedgerRoles(
  ownersUrl: string,
  password = 'for-this-test',
): Promise<Record<(typeof LEDGER_ROLES)[number], string>> {
  const owner = new pg.Client({ connectionString: ownersUrl });
  await owner.connect();
  try {
    await owner.query(await readFile(GRANTS, 'utf8'));
    for (const role of LEDGER_ROLES) {
      await owner.query(`ALTER ROLE ${role} LOGIN PASSWORD ${owner.escapeLiteral(password)}`);
    }
  } finally {
    await owner.end();
  }
  const urls = LEDGER_ROLES.map((role) => {
    const url = new URL(ownersUrl);
    [url.username, url.password] = [role, password];
    return [role, url.href] as const;
  });
  return Object.fromEntries(urls) as Record<(typeof LEDGER_ROLES)[number], string>;
}
