/** The command line of a bench. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { LedgerEngine } from './load/site.ts';

type Known = NonNullable<ParseArgsConfig['options']>;
type Values<Options extends Known> = ReturnType<typeof parseArgs<{ options: Options }>>['values'];

/** Reads the options with `take`. Prints the usage and exits for `--help`, and where `take` throws an error. */
export function readOptions<const Options extends Known, Taken>(
  usage: string,
  options: Options,
  take: (values: Values<Options>) => Taken,
): Taken {
  if (process.argv.includes('--help')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return take(parseArgs<{ options: Options }>({ options }).values);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error(usage);
    process.exit(2);
  }
}

/** @throws Error that names the words that the option takes */
export function oneOf<T extends string>(known: readonly T[], text: string, option: string): T {
  const found = known.find((one) => one === text);
  if (!found) throw new Error(`${option} knows ${known.join(', ')}`);
  return found;
}

export function ledgerEngine(text: string): LedgerEngine {
  return oneOf(['postgres', 'sqlite'], text, '--ledger');
}

export function whole(text: string | undefined, standard: number): number {
  const value = text === undefined ? standard : Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${text} is not a whole number above 0`);
  return value;
}
