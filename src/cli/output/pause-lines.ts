/** What commands about runs say of pauses, so that operators look for no other reason why a run waits. */
import { type Pause, pauseWords } from '../../ledger/pauses.ts';
import { type Output, wrap } from './output.ts';

export function pauseLines(pauses: readonly Pause[], { width, colors }: Pick<Output, 'width' | 'colors'>): string[] {
  return pauses.flatMap((pause) => wrap(pauseWords(pause), width).map(colors.yellow));
}

/** A line for each pause in force; none under JSON, and where the environment names no ledger that can be read. */
export async function pauseNotice(output: Output): Promise<string[]> {
  if (output.isJson) return [];
  const { pausesInForce } = await import('../../operator/pauses-in-force.ts');
  return pauseLines(await pausesInForce(process.env), output);
}
