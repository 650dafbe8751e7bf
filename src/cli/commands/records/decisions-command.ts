/** `decisions`: who decided what, when and why, from the ledger. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import type { AuditedDecision } from '../../../ledger/record-audit.ts';
import { runName } from '../../../model/owner-id.ts';
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
    closingDate: (one) => one.closingDate,
  },
  document: underJourneyId,
  lines: decisionLines,
};

export function decisionLines(one: AuditedDecision, width: number): string[] {
  const { attempt, providerSaid, failureType, provenBy, shareId } = one;
  const { productCode, customerTraceNumber, until, closingDate } = one;
  const about = [
    runName(one.ownerId),
    ...(productCode === undefined ? [] : [productCode]),
    ...(shareId === undefined ? [] : [`share ${shareId}`]),
    ...(customerTraceNumber === undefined
      ? []
      : [`${customerTraceNumber}${attempt === undefined ? '' : ` attempt ${attempt}`}`]),
    ...(until === undefined ? [] : [`until ${until}`]),
    ...(closingDate === undefined ? [] : [`to ${closingDate}`]),
  ].join(', ');
  const why = [
    ...(failureType === undefined ? [] : [`held as ${failureType}`]),
    ...(providerSaid === undefined ? [] : [`provider said ${providerSaid}`]),
    ...(provenBy === undefined ? [] : [`proven by key ${provenBy}`]),
  ].join(', ');
  const details = [about, `${one.decisionId}${why === '' ? '' : `: ${why}`}`, `reason: ${one.reason}`];
  return [
    ...table([[withAge(one.recordedAt), one.action.padEnd(7), `by ${one.by}`]], width),
    ...details.flatMap((line) => readable(line, width)),
  ];
}
