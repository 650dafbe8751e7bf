/** `disposals`: what was disposed of, and what is or was under a legal hold, from the ledger. */
import type { Command } from 'commander';
import type { AuditedDisposal } from '../../../ledger/record-audit.ts';
import { runName } from '../../../model/owner-id.ts';
import { readable, underJourneyId } from '../../output/inquiry-formats.ts';
import { table, withAge } from '../../output/output.ts';
import { printRecords, type RecordFormat, registerListing } from './record-listing.ts';

export function registerDisposalsCommand(program: Command): void {
  registerListing(program, {
    name: 'disposals',
    description: 'who disposed of what, and who set or released legal holds, when and why, from the ledger',
    print: (options, query) => printRecords(options, (ledger) => ledger.disposalsBetween(query), DISPOSALS),
  });
}

const WORDS: Record<AuditedDisposal['kind'], string> = {
  disposalBegun: 'disposal begun',
  historyDeleted: 'history deleted',
  disposed: 'disposed of',
  legalHoldSet: 'legal hold set',
  legalHoldReleased: 'legal hold released',
};

const DISPOSALS: RecordFormat<AuditedDisposal> = {
  name: 'disposals',
  columns: {
    recordedAt: (one) => one.recordedAt,
    kind: (one) => one.kind,
    journeyId: (one) => one.ownerId,
    productCode: (one) => one.productCode,
    by: (one) => one.by,
    reason: (one) => one.reason,
    inquiries: (one) => one.details?.inquiries,
    reports: (one) => one.details?.reports,
    runs: (one) => one.details?.runs,
    matter: (one) => one.matter,
    workflowId: (one) => one.run?.workflowId,
    runId: (one) => one.run?.runId,
  },
  document: underJourneyId,
  lines: disposalLines,
};

export function disposalLines(one: AuditedDisposal, width: number): string[] {
  const { details, productCode, matter, run } = one;
  const amounts = details && `${details.inquiries} inquiries, ${details.reports} reports, ${details.runs} runs`;
  const lines = [
    `${runName(one.ownerId)}${productCode === undefined ? '' : `, ${productCode} alone`}`,
    ...(amounts === undefined ? [] : [amounts]),
    ...(matter === undefined ? [] : [`matter: ${matter}`]),
    ...(run === undefined ? [] : [`run: ${run.workflowId}, ${run.runId}`]),
    `reason: ${one.reason}`,
  ];
  return [
    ...table([[withAge(one.recordedAt), WORDS[one.kind], `by ${one.by}`]], width),
    ...lines.flatMap((line) => readable(line, width)),
  ];
}
