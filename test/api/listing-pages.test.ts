/** Pages of a listing whose rows share an instant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listingOperations } from '../../src/operations/listing-operations.ts';

const AT = '2026-01-02T03:04:05.006Z';
const LATER = '2026-01-02T03:04:05.007Z';

/** Reads the unmatched consents in pages of one. `isListed` says which are still there. */
async function readAll(isListed: (consentId: string, page: number) => boolean): Promise<string[]> {
  const route = listingOperations.find(({ path }) => path === '/v1/unmatched-consents') ?? assert.fail('no such route');
  const rows = [
    { consentId: 'C-a', since: AT },
    { consentId: 'C-b', since: AT },
    { consentId: 'C-c', since: LATER },
  ].map((row) => ({
    ...row,
    runKey: 'J-1',
    shareId: 'S-1',
    applicantId: '1A',
    decision: 'granted',
    unmatched: 'share',
  }));
  const read: string[] = [];
  let after: string | undefined;
  for (let page = 0; page < 5; page++) {
    const listed = rows.filter(({ consentId }) => isListed(consentId, page));
    async function* unmatchedBetween({ from = '' }: { from?: string }) {
      yield* listed.filter(({ since }) => since >= from);
    }
    const call = {
      caller: { isLocal: true, profiles: '*', endUsers: '*' },
      services: { openLedger: async () => ({ unmatchedBetween }) },
      query: { limit: '1', ...(after === undefined ? {} : { after }) },
      note: () => {},
    };
    const answer = (await route.handle(call as never)) as {
      body: { data: { consentId: string }[]; next?: string };
    };
    read.push(...answer.body.data.map(({ consentId }) => consentId));
    after = answer.body.next;
    if (after === undefined) break;
  }
  return read;
}

test('each row of one instant is on a page, once', async () => {
  assert.deepEqual(await readAll(() => true), ['C-a', 'C-b', 'C-c']);
});

test('a row that leaves the list between two pages takes no other row of its instant with it', async () => {
  assert.deepEqual(await readAll((consentId, page) => consentId !== 'C-a' || page === 0), ['C-a', 'C-b', 'C-c']);
});
