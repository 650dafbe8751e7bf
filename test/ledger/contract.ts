/** What every engine of the ledger must do; each engine's test file runs this suite against a real database. */
import { describe, type TestContext } from 'node:test';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { acceptTests } from './contract-accept.ts';
import { auditTests } from './contract-audit.ts';
import { chainTests } from './contract-chain.ts';
import { claimTests } from './contract-claims.ts';
import { closingTests } from './contract-closing.ts';
import { consentTests, decisionTests } from './contract-decisions.ts';
import { derivedTests } from './contract-derived.ts';
import { disposalTests } from './contract-disposal.ts';
import { identityTests } from './contract-identity.ts';
import { keptConsentTests } from './contract-kept.ts';
import { legalHoldTests } from './contract-legal-holds.ts';
import { openInquiryTests } from './contract-open.ts';
import { outcomeTests, reportTests } from './contract-outcomes.ts';
import { pauseTests } from './contract-pauses.ts';
import { readingTests } from './contract-readings.ts';
import { recordTests } from './contract-records.ts';
import { restoreTests } from './contract-restores.ts';
import { rewrappingTests } from './contract-rewrapping.ts';
import { runDecisionTests } from './contract-run-decisions.ts';
import { shareTests } from './contract-shares.ts';
import { withdrawnShareTests } from './contract-withdrawn.ts';
import { workTests } from './contract-work.ts';
import { workListTests } from './contract-work-lists.ts';
import { writerTests } from './contract-writers.ts';
import { keyRing } from './fixtures.ts';
import type { LedgerBackend, Opened } from './ledger-backend.ts';

export function ledgerContract(backend: LedgerBackend): void {
  async function opened(t: TestContext): Promise<Opened> {
    const url = await backend.newUrl();
    const ring = keyRing();
    const openAt = (address: string) =>
      openLedger({ url: address, environment: 'sandbox', keyRing: ring, create: true });
    let address = url;
    if (backend.forPrograms) {
      await (await openAt(url)).close();
      address = await backend.forPrograms(url);
    }
    const open = async () => {
      const ledger = await openAt(address);
      t.after(() => ledger.close());
      return ledger;
    };
    const ledger = await open();
    return { url, ring, ledger, ledgerId: ledger.identity.ledgerId, again: open };
  }

  describe(`${backend.name}: claims`, () => claimTests(opened));
  describe(`${backend.name}: closing of unclaimed attempts`, () => closingTests(opened, backend));
  describe(`${backend.name}: restored older copies`, () => restoreTests(opened, backend));
  describe(`${backend.name}: pauses`, () => pauseTests(opened, backend));
  describe(`${backend.name}: outcomes`, () => outcomeTests(opened, backend));
  describe(`${backend.name}: accept decisions`, () => acceptTests(opened, backend));
  describe(`${backend.name}: decisions`, () => decisionTests(opened, backend));
  describe(`${backend.name}: consents`, () => consentTests(opened, backend));
  describe(`${backend.name}: consents that no run received`, () => keptConsentTests(opened, backend));
  describe(`${backend.name}: the audit chain`, () => chainTests(opened, backend));
  describe(`${backend.name}: reports`, () => reportTests(opened));
  describe(`${backend.name}: undecided inquiries`, () => openInquiryTests(opened));
  describe(`${backend.name}: rows of operator tasks`, () => workTests(opened));
  describe(`${backend.name}: lists of operator tasks`, () => workListTests(opened, backend));
  describe(`${backend.name}: audit of inquiries`, () => auditTests(opened, backend));
  describe(`${backend.name}: audit of shares`, () => shareTests(opened, backend));
  describe(`${backend.name}: withdrawn shares`, () => withdrawnShareTests(opened, backend));
  describe(`${backend.name}: lists of decisions, consents and disposals`, () => recordTests(opened));
  describe(`${backend.name}: decisions about runs`, () => runDecisionTests(opened, backend));
  describe(`${backend.name}: rewrapping of data keys`, () => rewrappingTests(opened, backend));
  describe(`${backend.name}: refusal bodies and readings of reports`, () => readingTests(opened, backend));
  describe(`${backend.name}: disposal`, () => disposalTests(opened, backend));
  describe(`${backend.name}: legal holds`, () => legalHoldTests(opened));
  describe(`${backend.name}: derived documents`, () => derivedTests(opened, backend));
  describe(`${backend.name}: programs of different versions`, () => writerTests(opened, backend));
  describe(`${backend.name}: identity`, () => identityTests(opened, backend));
}
