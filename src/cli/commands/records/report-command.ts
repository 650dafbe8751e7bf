/** The commands whose purpose is to print personal data. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import type { LedgerReferences } from '../../../ledger/reports/report-references.ts';
import type { ConsumerResult } from '../../../messages/pull/shapes.ts';
import { requireRunKey } from '../../decisions/journey-action.ts';
import { type OutputOptions, RUN_ID, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { createOutput, table, wrap } from '../../output/output.ts';
import { withLedger } from '../with-ledger.ts';

export function registerReportCommand(program: Command): void {
  const command = program
    .command('report')
    .description('print a stored report, or what a refusal said, from the ledger (personal data)')
    .argument('[id]', RUN_ID)
    .argument('[productCode]', 'such as PREQUAL')
    .option('--trace <customerTraceNumber>', 'of one inquiry, where a stage was repeated; else the newest')
    .option(
      '--attempt <trace/number>',
      'what the gateway wrote beside the refusal of an attempt; without the arguments',
    )
    .option('--purpose <text>', 'serve the report again to its end user, for this purpose: kept in the ledger')
    .option('--end-user <code>', 'refuse unless the report was pulled for this end user')
    .option('--by <name>', 'who reads (default: the system’s user)');
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
    const [{ readReport }, { PRODUCTS }] = await Promise.all([
      import('../../../operator/ledger-reports.ts'),
      import('../../../model/products.ts'),
    ]);
    const product = PRODUCTS.find((one) => one === productCode);
    if (!product) throw new UsageError(`productCode must be one of ${PRODUCTS.join(', ')}`);
    requireRunKey(id);
    const { trace: customerTraceNumber, purpose, by, endUser } = options;
    const wanted = { runKey: id, productCode: product, ...defined({ customerTraceNumber }) };
    const report = await withLedger((ledger) => readReport(ledger, wanted, defined({ purpose, by, endUser })));
    // JSON for people too: a reader of a report wants all of it.
    createOutput(options).answer(report, () => JSON.stringify(report, null, 2).split('\n'));
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
  const { readRefusal } = await import('../../../operator/ledger-reports.ts');
  const { by, endUser } = options;
  const origin = { customerTraceNumber, attempt: Number(number) };
  const refusal = await withLedger((ledger) => readRefusal(ledger, origin, defined({ by, endUser })));
  createOutput(options).answer(refusal, () => JSON.stringify(refusal, null, 2).split('\n'));
}

export function registerReferencesCommand(program: Command): void {
  const command = program
    .command('references')
    .description('print what has to be stored for later shares (consumer ids are personal data)')
    .argument('<id>', RUN_ID);
  withExamples(
    withOutputOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey references J-1001',
  );
  command.action(async (id: string, options: OutputOptions) => {
    requireRunKey(id);
    const { readReferences } = await import('../../../operator/ledger-reports.ts');
    const references = await withLedger((ledger) => readReferences(ledger, id));
    const output = createOutput(options);
    output.answer(references, () => referenceLines(references, output.width));
  });
}

function referenceLines(
  { references, shares, consumers = [], unattributed = [], said = [], withoutRecord = [] }: LedgerReferences,
  width: number,
): string[] {
  const stages = references.flatMap(({ productCode, reference }) => [
    `${productCode}  ${reference.reportReferenceNumber}  requested ${reference.requestedAt}`,
    ...table(
      reference.applicants.map(({ applicantId, consumerId }) => [applicantId, consumerId]),
      width,
      '  ',
    ),
  ]);
  const without = withoutRecord.map(
    ({ productCode, applicantId = 'not attributable', consumerId }) =>
      `${productCode}  no record  ${applicantId}  ${consumerId}`,
  );
  const shared = shares.map(({ shareId, reportReferenceNumber }) => `share ${shareId}  ${reportReferenceNumber}`);
  const words = said.flatMap(({ productCode, applicantId, returnReasonDesc, errorMessage }) =>
    [returnReasonDesc, errorMessage].flatMap((text) =>
      text === undefined ? [] : wrap(`${[productCode, applicantId].filter(Boolean).join(' ')} said: ${text}`, width),
    ),
  );
  const lines = [...stages, ...consumerLines([...consumers, ...unattributed], width), ...without, ...shared, ...words];
  return lines.length > 0 ? lines : ['no references yet'];
}

/** FAILSAFE also names consumers without a record. */
function consumerLines(consumers: readonly Partial<ConsumerResult>[], width: number): string[] {
  if (consumers.length === 0) return [];
  const rows = consumers.map(({ applicantId, outcome = '', reportReferenceNumber = '', consumerId = '' }) => [
    applicantId ?? 'not attributable',
    outcome,
    reportReferenceNumber,
    consumerId,
  ]);
  return ['consumers', ...table(rows, width, '  ')];
}
