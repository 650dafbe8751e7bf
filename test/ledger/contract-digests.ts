/** Part of the contract suite: whose request a row is of, in whichever canonical form its digest was made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LedgerUnavailableError, RequestDiffersError } from '../../src/ledger/errors.ts';
import { CANONICAL_VERSION } from '../../src/model/canonical-request.ts';
import { attempted, claimOf, latestState, NO_RECORD, TRACE } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

export function digestTests(opened: Open, backend: LedgerBackend): void {
  async function storedIn(url: string): Promise<object[]> {
    const rows = await backend.execute(url, 'SELECT digest, digest_version FROM inquiries');
    return rows.map((row) => ({ ...(row as object) }));
  }

  test('a claim stores the version of the form beside the digest', async (t) => {
    const { ledger, url } = await opened(t);
    const { digests } = claimOf(ledger);
    await ledger.claim(claimOf(ledger));
    assert.deepEqual(await storedIn(url), [{ digest: digests[CANONICAL_VERSION], digest_version: CANONICAL_VERSION }]);
  });

  test('a row of an older form is compared in that form, and keeps it', async (t) => {
    const { ledger, url } = await opened(t);
    await attempted(ledger, {}, { state: 'notSent' });
    await backend.execute(url, "UPDATE inquiries SET digest = 'old', digest_version = 'v0'");
    const { digests } = claimOf(ledger);
    const both = { ...digests, v0: 'old' };
    assert.equal((await ledger.lookUp(ledger.identity.ledgerId, TRACE, both))?.state, 'notSent');
    assert.equal((await ledger.claim(claimOf(ledger, { attempt: 2, digests: both }))).kind, 'claimed');
    assert.deepEqual(await storedIn(url), [{ digest: 'old', digest_version: 'v0' }]);
    const other = { ...digests, v0: 'another' };
    await assert.rejects(ledger.lookUp(ledger.identity.ledgerId, TRACE, other), RequestDiffersError);
    assert.equal(latestState(await ledger.claim(claimOf(ledger, { attempt: 3, digests: other }))), 'requestDiffers');
  });

  test('a row in a form that only a newer worker knows tells nothing, and is waited for', async (t) => {
    const { ledger, url } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: NO_RECORD });
    await backend.execute(url, "UPDATE inquiries SET digest_version = 'v9'");
    const { digests } = claimOf(ledger);
    await assert.rejects(ledger.lookUp(ledger.identity.ledgerId, TRACE, digests), LedgerUnavailableError);
    await assert.rejects(ledger.claim(claimOf(ledger, { attempt: 2 })), LedgerUnavailableError);
  });

  test('the tables take no digest without its version', async (t) => {
    const { ledger, url } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: NO_RECORD });
    await assert.rejects(backend.execute(url, 'UPDATE inquiries SET digest_version = NULL'), /check/i);
  });
}
