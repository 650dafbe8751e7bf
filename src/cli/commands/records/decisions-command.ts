/** `decisions`: who decided what, when and why, from the ledger. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import type { AuditedDecision } from '../../../ledger/record-audit.ts';
import { runName } from '../../../model/owner-id.ts';
import { decisionGrounds, decisionSubject } from '../../../words/records.ts';
import { readable, underJourneyId } from '../../output/inquiry-formats.ts';
import { table, withAge } from '../../output/output.ts';
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
  columns: {
    recordedAt: (one) => one.recordedAt,
    decidedAt: (one) => one.decidedAt,
    decisionId: (one) => one.decisionId,
    action: (one) => one.action,
    by: (one) => one.by,
    reason: (one) => one.reason,
    providerSaid: (one) => one.providerSaid,
    failureType: (one) => one.failureType,
    journeyId: (one) => one.ownerId,
    customerTraceNumber: (one) => one.customerTraceNumber,
    attempt: (one) => one.attempt,
    productCode: (one) => one.productCode,
    shareId: (one) => one.shareId,
    endUserCode: (one) => one.endUserCode,
    endUser: (one) => one.endUser,
    profile: (one) => one.profile,
    provenBy: (one) => one.provenBy,
    until: (one) => one.until,
  },
  document: underJourneyId,
  lines: decisionLines,
};

export function decisionLines(one: AuditedDecision, width: number): string[] {
  const about = [runName(one.ownerId), ...decisionSubject(one)].join(', ');
  const why = decisionGrounds(one).join(', ');
  const details = [about, `${one.decisionId}${why === '' ? '' : `: ${why}`}`, `reason: ${one.reason}`];
  return [
    ...table([[withAge(one.recordedAt), one.action.padEnd(7), `by ${one.by}`]], width),
    ...details.flatMap((line) => readable(line, width)),
  ];
}
