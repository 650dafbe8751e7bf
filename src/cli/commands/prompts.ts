/** Questions on a terminal. */
import { createInterface } from 'node:readline/promises';
import { adaptCommands } from '../output/program-call.ts';

/** Thrown after Ctrl-C, Ctrl-D or a closed terminal: no decision was made. */
export class PromptClosedError extends Error {
  override readonly name = 'PromptClosedError';

  constructor() {
    super('nothing was decided');
  }
}

interface Choice<T extends string> {
  value: T;
  /** A short explanation. */
  what?: string;
}

export type Prompter = ReturnType<typeof createPrompter>;

/** Whether an operator can be asked at this terminal. */
export function isAsking({ isJson }: { isJson: boolean }): boolean {
  return !isJson && process.stdin.isTTY === true;
}

/** Its methods throw `PromptClosedError` once the input has ended. */
export function createPrompter(resources: AsyncDisposableStack) {
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  resources.defer(() => reader.close());
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => {});
  // Without this the question would never resolve, and the process would end before its answer.
  reader.once('close', () => closed.reject(new PromptClosedError()));
  const ask = async (question: string) => (await Promise.race([reader.question(question), closed.promise])).trim();
  const say = (lines: readonly string[]) =>
    void process.stdout.write(lines.map((text) => `${adaptCommands(text)}\n`).join(''));

  /** Asks until there is no problem with the answer. */
  const line = async (question: string, findProblem: (text: string) => string | null = () => null): Promise<string> => {
    for (;;) {
      const text = await ask(`${question}: `);
      const wrong = text === '' ? 'an answer is required' : findProblem(text);
      if (wrong === null) return text;
      say([`  ${wrong}`]);
    }
  };

  return {
    say,
    line,
    choice: async <T extends string>(question: string, choices: readonly Choice<T>[]): Promise<T> => {
      say([
        `${question}:`,
        ...choices.map(({ value, what }, index) => `  ${index + 1}  ${value}${what === undefined ? '' : `: ${what}`}`),
      ]);
      const find = (text: string) => choices.find(({ value }, index) => text === value || text === String(index + 1));
      const text = await line('Number or word', (answer) =>
        find(answer) ? null : `one of ${choices.map(({ value }) => value).join(', ')}`,
      );
      return (find(text) as Choice<T>).value;
    },
    /** Defaults to no. */
    confirm: async (question: string) => /^y(es)?$/i.test(await ask(`${question} [y/N] `)),
  };
}
