/** The two commands whose purpose is to print personal data. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
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
    .description('print a stored report, or what a refusal said, from the codec server or the ledger (personal data)')
    .argument('[id]', RUN_ID)
    .argument('[productCode]', 'such as PREQUAL')
    .option('--trace <customerTraceNumber>', 'of one inquiry, where a stage was repeated; else the newest')
    .option(
      '--attempt <trace/number>',
      'what the gateway wrote beside the refusal of an attempt; without the arguments',
    )
    .option('--purpose <text>', 'serve the report again to its end user, for this purpose: kept in the ledger')
    .option('--end-user <code>', 'refuse unless the report was pulled for this end user')
    .option('--by <name>', 'who reads (default: the system’s user; a token’s subject counts before it)');
  withExamples(
    withOutputOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey report J-1001 PREQUAL',
    'credit-journey report J-1001 PREQUAL --purpose "adverse action letter" --end-user EU123',
  );
  command.action(async (id: string | undefined, productCode: string | undefined, options: ReportOptions) => {
    if (options.attempt !== undefined)
      return printRefusal(options.attempt, [id, options.trace, options.purpose], options);
    if (id === undefined || productCode === undefined) throw new UsageError('an id and a productCode, or --attempt');
    const [{ openConfiguredReports }, { ReportNotFoundError }, { PRODUCTS }] = await Promise.all([
      import('../../../operator/configured-reports.ts'),
      import('../../../client/connection/errors.ts'),
      import('../../../model/products.ts'),
    ]);
    const product = PRODUCTS.find((one) => one === productCode);
    if (!product) throw new UsageError(`productCode must be one of ${PRODUCTS.join(', ')}`);
    requireOwnerId(id);
    await using reports = await openConfiguredReports(process.env);
    const { trace: customerTraceNumber, purpose, by, endUser } = options;
    const request = defined({ customerTraceNumber, purpose, by, endUser });
    const report = await reports.report(id, product, request);
    if (!report) throw new ReportNotFoundError(id, product);
    const output = createOutput(options);
    // JSON for people too: a reader of a report wants all of it.
    output.answer(report, () => JSON.stringify(report, null, 2).split('\n'));
    noteWhereRedacted(report, output);
  });
}

interface ReportOptions extends OutputOptions {
  trace?: string;
  attempt?: string;
  purpose?: string;
  endUser?: string;
  by?: string;
}

/** @param others what makes no sense beside an attempt */
async function printRefusal(text: string, others: readonly unknown[], options: ReportOptions): Promise<void> {
  const [, customerTraceNumber, number] = /^([A-Z0-9]{1,30})\/([1-9]\d{0,5})$/.exec(text) ?? [];
  if (customerTraceNumber === undefined || others.some((one) => one !== undefined)) {
    throw new UsageError(
      '--attempt takes <customerTraceNumber>/<number> and stands alone, but for --by and --end-user',
    );
  }
  const [{ openConfiguredReports }, { RefusalNotFoundError }] = await Promise.all([
    import('../../../operator/configured-reports.ts'),
    import('../../../client/connection/errors.ts'),
  ]);
  await using reports = await openConfiguredReports(process.env);
  const { by, endUser } = options;
  const refusal = await reports.refusal(customerTraceNumber, Number(number), defined({ by, endUser }));
  if (!refusal) throw new RefusalNotFoundError(customerTraceNumber, Number(number));
  const output = createOutput(options);
  output.answer(refusal, () => JSON.stringify(refusal, null, 2).split('\n'));
  noteWhereRedacted(refusal, output);
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
