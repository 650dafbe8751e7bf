/** The commands that list what the ledger recorded: decisions, consents, shares, disposals and accesses. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import type { AuditedAccess } from '../../../ledger/reading.ts';
import type {
  AuditedConsent,
  AuditedDecision,
  AuditedDisposal,
  AuditedShareWithdrawal,
} from '../../../ledger/record-audit.ts';
import type { AuditedShare } from '../../../ledger/share-audit.ts';
import {
  describeAccess,
  describeConsent,
  describeDecision,
  describeDisposal,
  describeShare,
  describeShareWithdrawal,
} from '../../../words/records.ts';
import { columnsFor } from '../../output/csv.ts';
import { UsageError } from '../../output/errors.ts';
import { underJourneyId } from '../../output/inquiry-formats.ts';
import { type ListingOptions, printRecords, type RecordFormat, registerListing } from './record-listing.ts';

interface DecisionsOptions extends ListingOptions {
  trace?: string;
  by?: string;
}

export function registerDecisionsCommand(program: Command): void {
  registerListing<DecisionsOptions>(program, {
    name: 'decisions',
    description: 'who decided what about which inquiry or run, when and why, from the ledger',
    options: [
      ['--trace <customerTraceNumber>', 'only about this inquiry'],
      ['--by <name>', 'only by this person, as it was written'],
    ],
    print: ({ trace, by, ...options }, period) => {
      const query = { ...period, ...defined({ customerTraceNumber: trace, by }) };
      return printRecords(options, (ledger) => ledger.decisionsBetween(query), DECISIONS);
    },
  });
}

const DECISIONS: RecordFormat<AuditedDecision> = {
  name: 'decisions',
  columns: columnsFor<AuditedDecision>(
    ['recordedAt', 'decidedAt', 'decisionId', 'action', 'by', 'reason', 'providerSaid', 'failureType'],
    { journeyId: (one) => one.ownerId },
    ['customerTraceNumber', 'attempt', 'productCode', 'shareId', 'endUserCode', 'endUser', 'profile'],
    ['provenBy', 'until'],
  ),
  document: underJourneyId,
  line: describeDecision,
};

interface ConsentsOptions extends ListingOptions {
  proofs?: boolean;
}

export function registerConsentsCommand(program: Command): void {
  registerListing<ConsentsOptions>(program, {
    name: 'consents',
    description:
      'who granted or refused what, when and with which evidence, from the ledger; also where nothing was posted',
    options: [['--proofs', 'with the proofs (compact JWS) that consent systems have signed, in CSV and JSON']],
    print: (options, query) =>
      printRecords(options, (ledger) => ledger.consentsBetween(query), options.proofs ? WITH_PROOFS : CONSENTS),
  });
}

const CONSENTS: RecordFormat<AuditedConsent> = {
  name: 'consents',
  columns: columnsFor<AuditedConsent>(
    ['recordedAt', 'decidedAt', 'receivedAt', 'journeyId', 'shareId', 'applicantId', 'consentId'],
    ['decision', 'endUserCode', 'endUser'],
    {
      method: (one) => one.evidence?.method,
      textVersion: (one) => one.evidence?.textVersion,
      capturedAt: (one) => one.evidence?.capturedAt,
      reference: (one) => one.evidence?.reference,
      hasProof: (one) => String(one.proof !== undefined),
    },
    ['permittedAttempts', 'unmatched'],
  ),
  document: ({ proof, ...one }) => ({ ...one, hasProof: proof !== undefined }),
  line: describeConsent,
};

/** A proof's content is the consent system's, and long: it is printed on demand. */
const WITH_PROOFS: RecordFormat<AuditedConsent> = {
  ...CONSENTS,
  columns: { ...CONSENTS.columns, proof: (one) => one.proof },
  document: (one) => ({ ...one, hasProof: one.proof !== undefined }),
};

interface SharesOptions extends ListingOptions {
  report?: string;
  endUser?: string;
  withdrawn?: boolean;
}

/** `ownerId` is called `journeyId` here as everywhere on the command line. */
function shareDocument({ ownerId, report, ...one }: AuditedShare): object {
  const { ownerId: reportOwnerId, ...rest } = report ?? {};
  return { journeyId: ownerId, ...one, report: report ? { journeyId: reportOwnerId, ...rest } : null };
}

const SHARES: RecordFormat<AuditedShare> = {
  name: 'shares',
  columns: columnsFor<AuditedShare>(
    ['claimedAt', 'requestedAt', 'posted', 'sharedBy', 'endUserCode', 'endUser', 'permissiblePurposeCode'],
    { journeyId: (one) => one.ownerId },
    ['shareId', 'customerTraceNumber', 'attempt'],
    {
      reportJourneyId: (one) => one.report?.ownerId,
      reportProductCode: (one) => one.report?.productCode,
      reportTraceNumber: (one) => one.report?.customerTraceNumber,
      consents: (one) => one.consents.map((consent) => `${consent.applicantId} ${consent.consentId}`).join('; '),
      consentsDecidedAt: (one) => one.consents.map(({ decidedAt }) => decidedAt).join('; '),
      evidence: (one) => one.consents.map(({ evidence }) => evidence?.reference ?? '').join('; '),
    },
    ['outcome', 'customerId', 'profile', 'environment'],
  ),
  document: shareDocument,
  line: describeShare,
};

const WITHDRAWN: RecordFormat<AuditedShareWithdrawal> = {
  name: 'withdrawn',
  columns: columnsFor<AuditedShareWithdrawal>(['recordedAt'], { journeyId: (one) => one.ownerId }, [
    'shareId',
    'replacedBy',
    'by',
    'reason',
  ]),
  document: underJourneyId,
  line: describeShareWithdrawal,
};

export function registerSharesCommand(program: Command): void {
  registerListing<SharesOptions>(program, {
    name: 'shares',
    description: 'who shared what with whom, when and under whose consent, from the ledger',
    options: [
      ['--report <report>', 'only of this report: its reference, or the trace number of its inquiry'],
      ['--end-user <name>', 'only shared by or with this end user, by code or name'],
      ['--withdrawn', 'in their place the shares that were withdrawn before they were sent: who, when and why'],
    ],
    print: async (options, period) => {
      const { report, endUser, withdrawn } = options;
      if (withdrawn && (report ?? endUser) !== undefined)
        throw new UsageError('--withdrawn goes without --report and --end-user');
      if (withdrawn) return printRecords(options, (ledger) => ledger.withdrawnSharesBetween(period), WITHDRAWN);
      const query = { ...period, ...defined({ report, endUser }) };
      return printRecords(options, (ledger) => ledger.sharesBetween(query), SHARES);
    },
  });
}

export function registerDisposalsCommand(program: Command): void {
  registerListing(program, {
    name: 'disposals',
    description: 'who disposed of what, and who set or released legal holds, when and why, from the ledger',
    print: (options, query) => printRecords(options, (ledger) => ledger.disposalsBetween(query), DISPOSALS),
  });
}

const DISPOSALS: RecordFormat<AuditedDisposal> = {
  name: 'disposals',
  columns: columnsFor<AuditedDisposal>(
    ['recordedAt', 'kind'],
    { journeyId: (one) => one.ownerId },
    ['productCode', 'by', 'reason'],
    {
      inquiries: (one) => one.details?.inquiries,
      reports: (one) => one.details?.reports,
      runs: (one) => one.details?.runs,
    },
    ['matter'],
    {
      workflowId: (one) => one.run?.workflowId,
      runId: (one) => one.run?.runId,
    },
  ),
  document: underJourneyId,
  line: describeDisposal,
};

export function registerAccessesCommand(program: Command): void {
  registerListing<ListingOptions & { trace?: string; by?: string }>(program, {
    name: 'accesses',
    description: 'who read which report, when, and for which purpose, from the ledger',
    options: [
      ['--trace <customerTraceNumber>', 'only of this inquiry'],
      ['--by <name>', 'only by this reader'],
    ],
    print: ({ trace, by, ...options }, period) => {
      const query = { ...period, ...defined({ customerTraceNumber: trace, by }) };
      return printRecords(options, (ledger) => ledger.reading.accessesBetween(query), ACCESSES);
    },
  });
}

const ACCESSES: RecordFormat<AuditedAccess> = {
  name: 'accesses',
  columns: columnsFor<AuditedAccess>(
    ['recordedAt', 'kind'],
    { journeyId: (one) => one.ownerId },
    ['customerTraceNumber', 'attempt', 'productCode', 'endUserCode', 'endUser', 'by', 'via', 'purpose'],
    { redacted: (one) => String(one.redacted) },
    ['accessId'],
  ),
  document: underJourneyId,
  line: describeAccess,
};
