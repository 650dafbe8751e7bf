/** The two commands that print personal data, since that is what they are asked for. */
import type { Command } from 'commander';
import type { JourneyReferences } from '../model/shapes.ts';
import {
  type OutputOptions,
  type ServerOptions,
  withExamples,
  withOutputOptions,
  withServerOptions,
} from './common-options.ts';
import { UsageError } from './errors.ts';
import { withJourney } from './journey-action.ts';
import { createOutput, table } from './output.ts';

export function registerReportCommand(program: Command): void {
  const command = program
    .command('report')
    .description('print a stored report, as the gateway answered it, from the ledger (personal data)')
    .argument('<journeyId>')
    .argument('<productCode>', 'PREQUAL, PREAPP or PRECLOSE');
  withExamples(
    withOutputOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey report J-1001 PREQUAL',
  );
  command.action(async (journeyId: string, productCode: string, options: OutputOptions) => {
    const { readStoredReport } = await import('../client/stored-report.ts');
    const { openConfiguredLedger } = await import('../client/configured-ledger.ts');
    const { PRODUCTS } = await import('../model/products.ts');
    const product = PRODUCTS.find((one) => one === productCode);
    if (!product) throw new UsageError(`productCode must be one of ${PRODUCTS.join(', ')}`);
    const ledger = await openConfiguredLedger(process.env);
    try {
      const report = await readStoredReport(ledger, journeyId, product);
      // JSON for people too: whoever reads a report wants all of it.
      createOutput(options).answer(report, () => JSON.stringify(report, null, 2).split('\n'));
    } finally {
      await ledger.close();
    }
  });
}

export function registerReferencesCommand(program: Command): void {
  const command = program
    .command('references')
    .description('print what has to be stored for later shares (consumer ids are personal data)')
    .argument('<journeyId>');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey references J-1001',
  );
  command.action(async (journeyId: string, options: ServerOptions) => {
    await withJourney(journeyId, options, async (journey, output) => {
      const references = await journey.references();
      output.answer(references, () => referenceLines(references, output.width));
    });
  });
}

function referenceLines({ references, shares }: JourneyReferences, width: number): string[] {
  const stages = references.flatMap(({ productCode, reference }) => [
    `${productCode}  ${reference.reportReferenceNumber}  requested ${reference.requestedAt}`,
    ...table(
      reference.applicants.map(({ applicantId, consumerId }) => [applicantId, consumerId]),
      width,
      '  ',
    ),
  ]);
  const shared = shares.map(({ shareId, reportReferenceNumber }) => `share ${shareId}  ${reportReferenceNumber}`);
  const lines = [...stages, ...shared];
  return lines.length > 0 ? lines : ['no references yet'];
}
