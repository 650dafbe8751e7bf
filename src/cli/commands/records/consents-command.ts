/** `consents`: who granted or refused what, from the ledger, also where nothing was posted. */
import type { Command } from 'commander';
import type { AuditedConsent } from '../../../ledger/record-audit.ts';
import { runName } from '../../../model/owner-id.ts';
import { nameOfUser } from '../../../model/secondary-user.ts';
import { readable } from '../../output/inquiry-formats.ts';
import { table, withAge } from '../../output/output.ts';
import { type ListingOptions, printRecords, type RecordFormat, registerListing } from './record-listing.ts';

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
  columns: {
    recordedAt: (one) => one.recordedAt,
    decidedAt: (one) => one.decidedAt,
    receivedAt: (one) => one.receivedAt,
    journeyId: (one) => one.journeyId,
    shareId: (one) => one.shareId,
    applicantId: (one) => one.applicantId,
    consentId: (one) => one.consentId,
    decision: (one) => one.decision,
    endUserCode: (one) => one.endUserCode,
    endUser: (one) => one.endUser,
    method: (one) => one.evidence?.method,
    textVersion: (one) => one.evidence?.textVersion,
    capturedAt: (one) => one.evidence?.capturedAt,
    reference: (one) => one.evidence?.reference,
    hasProof: (one) => String(one.proof !== undefined),
    permittedAttempts: (one) => one.permittedAttempts,
    unmatched: (one) => one.unmatched,
  },
  document: ({ proof, ...one }) => ({ ...one, hasProof: proof !== undefined }),
  lines: consentLines,
};

/** A proof's content is the consent system's, and long: it is printed on demand. */
const WITH_PROOFS: RecordFormat<AuditedConsent> = {
  ...CONSENTS,
  columns: { ...CONSENTS.columns, proof: (one) => one.proof },
  document: (one) => ({ ...one, hasProof: one.proof !== undefined }),
};

export function consentLines(one: AuditedConsent, width: number): string[] {
  const { evidence, permittedAttempts, unmatched } = one;
  const uses = permittedAttempts === 1 ? '1 attempt' : `${permittedAttempts || 'no'} attempts`;
  const details = [
    `${runName(one.journeyId)}, share ${one.shareId} with ${nameOfUser(one)}`,
    `${one.consentId}, decided ${withAge(one.decidedAt)}`,
    ...(evidence ? [`evidence: ${evidence.method}, text ${evidence.textVersion}, ${evidence.reference}`] : []),
    ...(one.proof === undefined ? [] : ['proven by its consent system']),
    ...(one.decision === 'granted' ? [`sent under it: ${uses}`] : []),
    ...(unmatched === undefined ? [] : [`matches no ${unmatched} that the ledger knows`]),
  ];
  return [
    ...table([[withAge(one.recordedAt), one.decision.padEnd(7), `by applicant ${one.applicantId}`]], width),
    ...details.flatMap((line) => readable(line, width)),
  ];
}
