/** The provider's answers as lines: a trace number, then whether it was posted. Pure. */

export type Said = 'posted' | 'notPosted';

export interface ProviderAnswers {
  answers: ReadonlyMap<string, Said>;
  /** Each line that cannot be taken, by its number from 1, and why. */
  problems: readonly { line: number; rule: string }[];
}

/** A trace number may hold spaces and commas: the word is what ends the line. */
const LINE = /^(\S.*?)[\s,;]+(posted|not[\s_-]?posted)$/i;
const LONGEST = 30;

export function readAnswers(text: string): ProviderAnswers {
  const answers = new Map<string, Said>();
  const problems: { line: number; rule: string }[] = [];
  for (const [at, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim().replaceAll('"', '');
    if (line === '' || line.startsWith('#')) continue;
    const [, trace = '', word = ''] = LINE.exec(line) ?? [];
    if (trace === '' || trace.length > LONGEST || /^not$/i.test(trace)) {
      problems.push({ line: at + 1, rule: 'must be a trace number, then posted or not posted' });
      continue;
    }
    const said = /^posted$/i.test(word) ? 'posted' : 'notPosted';
    if (answers.has(trace) && answers.get(trace) !== said) {
      problems.push({ line: at + 1, rule: 'contradicts a line above it' });
    }
    answers.set(trace, said);
  }
  return { answers, problems };
}
