/** The options that say what a review asks, of one that is started and of one that is scheduled. */
import type { Command } from 'commander';
import type { PortfolioOrder } from '../../messages/portfolio/shapes.ts';
import { given } from '../output/json-input.ts';

/** What a review asks; the workers have the file. */
export interface OrderOptions {
  profile?: string;
  endUser?: string;
  purpose?: string;
  format?: string;
  window?: string;
  maxBadRows?: string;
}

export function withOrderOptions(command: Command): Command {
  return command
    .requiredOption('--end-user <endUserCode>', 'for whom the reports are')
    .requiredOption('--purpose <permissiblePurposeCode>', 'the permissible purpose')
    .option('--profile <name>', 'gateway profile')
    .option('--format <format>', 'csv or jsonl (default: by the file’s name)')
    .option('--window <rows>', 'rows under way at once (default: 20)')
    .option('--max-bad-rows <rows>', 'send nothing where there are more (default: 100)');
}

export function orderOf(file: string, options: OrderOptions): PortfolioOrder {
  const { profile, endUser, purpose, format, window, maxBadRows } = options;
  return given({
    ...{ file, profile, format, endUserCode: endUser, permissiblePurposeCode: purpose },
    window: window === undefined ? undefined : Number(window),
    maxBadRows: maxBadRows === undefined ? undefined : Number(maxBadRows),
  }) as unknown as PortfolioOrder;
}
