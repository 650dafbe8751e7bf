/** `accesses`: who read which report, list of changes or refusal, when and for what, from the ledger. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import type { AuditedAccess } from '../../../ledger/reading.ts';
import { runName } from '../../../model/owner-id.ts';
import { readable, underJourneyId } from '../../output/inquiry-formats.ts';
import { table, withAge } from '../../output/output.ts';
import { type ListingOptions, printRecords, type RecordFormat, registerListing } from './record-listing.ts';

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
  columns: {
    recordedAt: (one) => one.recordedAt,
    kind: (one) => one.kind,
    journeyId: (one) => one.ownerId,
    customerTraceNumber: (one) => one.customerTraceNumber,
    attempt: (one) => one.attempt,
    productCode: (one) => one.productCode,
    endUserCode: (one) => one.endUserCode,
    endUser: (one) => one.endUser,
    by: (one) => one.by,
    via: (one) => one.via,
    purpose: (one) => one.purpose,
    redacted: (one) => String(one.redacted),
    accessId: (one) => one.accessId,
  },
  document: underJourneyId,
  lines: accessLines,
};

const VIA: Record<AuditedAccess['via'], string> = {
  ledger: 'from the ledger',
  api: 'by the HTTP API',
};

function accessLines(one: AuditedAccess, width: number): string[] {
  const endUser = one.endUserCode ?? one.endUser;
  const lines = [
    `${one.customerTraceNumber} attempt ${one.attempt}, ${VIA[one.via]}${one.redacted ? ', masked' : ''}`,
    `${runName(one.ownerId)}${endUser === undefined ? '' : `, pulled for ${endUser}`}`,
    ...(one.purpose === undefined ? [] : [`served again: ${one.purpose}`]),
  ];
  return [
    ...table([[withAge(one.recordedAt), one.productCode, one.kind, `by ${one.by}`]], width),
    ...lines.flatMap((line) => readable(line, width)),
  ];
}
