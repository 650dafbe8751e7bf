/** The two commands whose purpose is to print personal data. */
import type { Command } from 'commander';
import type { ShareReportReferences, StoredPullReferences, StoredReferences } from '../../../client.ts';
import type { ConsumerResult } from '../../../messages/pull/shapes.ts';
import { requireOwnerId, withRun } from '../../decisions/journey-action.ts';
import {
  type OutputOptions,
  RUN_ID,
  type ServerOptions,
  withExamples,
  withOutputOptions,
  withServerOptions,
} from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { createOutput, type Output, table, wrap } from '../../output/output.ts';

export function registerReportCommand(program: Command): void {
  const command = program
    .command('report')
    .description('print a stored report, from the codec server or the ledger (personal data)')
    .argument('<id>', RUN_ID)
    .argument('<productCode>', 'such as PREQUAL')
    .option('--trace <customerTraceNumber>', 'of one inquiry, where a stage was repeated; else the newest');
  withExamples(
    withOutputOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey report J-1001 PREQUAL',
  );
  command.action(async (id: string, productCode: string, options: OutputOptions & { trace?: string }) => {
    const [{ openConfiguredReports }, { ReportNotFoundError }, { PRODUCTS }] = await Promise.all([
      import('../../../operator/configured-reports.ts'),
      import('../../../client/connection/errors.ts'),
      import('../../../model/products.ts'),
    ]);
    const product = PRODUCTS.find((one) => one === productCode);
    if (!product) throw new UsageError(`productCode must be one of ${PRODUCTS.join(', ')}`);
    requireOwnerId(id);
    await using reports = await openConfiguredReports(process.env);
    const report = await reports.report(id, product, options.trace);
    if (!report) throw new ReportNotFoundError(id, product);
    const output = createOutput(options);
    // JSON for people too: a reader of a report wants all of it.
    output.answer(report, () => JSON.stringify(report, null, 2).split('\n'));
    noteWhereRedacted(report, output);
  });
}

export function registerReferencesCommand(program: Command): void {
  const command = program
    .command('references')
    .description('print what has to be stored for later shares (consumer ids are personal data)')
    .argument('<id>', RUN_ID);
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey references J-1001',
  );
  command.action(async (id: string, options: ServerOptions) => {
    await withRun(id, options, async (run, output) => {
      const references = await run.references();
      output.answer(references, () => referenceLines(references, output.width));
      noteWhereRedacted(references, output);
    });
  });
}

/** The JSON says so too; a person may not look for it. */
function noteWhereRedacted({ redacted }: { redacted: boolean }, output: Output): void {
  if (!redacted) return;
  output.note('masked by the codec server: not to be stored. The roles of its token decide who sees all of it');
}

function referenceLines(
  found: StoredReferences | StoredPullReferences | ShareReportReferences,
  width: number,
): string[] {
  if (!('references' in found)) {
    const { shareId, reportReferenceNumber } = found;
    return reportReferenceNumber === undefined ? ['no references yet'] : [`share ${shareId}  ${reportReferenceNumber}`];
  }
  const { references, shares, consumers = [], said = [] } = { shares: [], ...found };
  const stages = references.flatMap(({ productCode, reference }) => [
    `${productCode}  ${reference.reportReferenceNumber}  requested ${reference.requestedAt}`,
    ...table(
      reference.applicants.map(({ applicantId, consumerId }) => [applicantId, consumerId]),
      width,
      '  ',
    ),
  ]);
  const shared = shares.map(({ shareId, reportReferenceNumber }) => `share ${shareId}  ${reportReferenceNumber}`);
  const words = said.flatMap(({ productCode, applicantId, returnReasonDesc, errorMessage }) =>
    [returnReasonDesc, errorMessage].flatMap((text) =>
      text === undefined ? [] : wrap(`${[productCode, applicantId].filter(Boolean).join(' ')} said: ${text}`, width),
    ),
  );
  const lines = [...stages, ...consumerLines(consumers, width), ...shared, ...words];
  return lines.length > 0 ? lines : ['no references yet'];
}

/** FAILSAFE also names consumers without a record. */
function consumerLines(consumers: readonly ConsumerResult[], width: number): string[] {
  if (consumers.length === 0) return [];
  const rows = consumers.map(({ applicantId, outcome, reportReferenceNumber = '', consumerId = '' }) => [
    applicantId,
    outcome,
    reportReferenceNumber,
    consumerId,
  ]);
  return ['consumers', ...table(rows, width, '  ')];
}
