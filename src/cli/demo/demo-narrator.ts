/** Tells the demo's story: one line for each thing that happens, with the seconds since the journey began. */
import pc from 'picocolors';
import type { JourneyStatus } from '../../messages/journey/shapes.ts';
import { describeParts, describeStanding, viewStatus } from '../../words/runs.ts';
import { AS_TEXT } from '../../words/writer.ts';
import { asCalled } from '../output/program-call.ts';

export type Narrator = ReturnType<typeof createNarrator>;

/** Colours on a terminal alone: elsewhere, or under NO_COLOR, the lines are plain. */
export function createNarrator(stream: NodeJS.WriteStream = process.stdout) {
  const isColoured = Boolean(stream.isTTY) && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  const colors = pc.createColors(isColoured);
  const beganAt = performance.now();
  const known = new Map<string, string>();
  const clock = () => colors.dim(`${((performance.now() - beganAt) / 1000).toFixed(1).padStart(6)} s`);
  const plain = (text: string) => void stream.write(`${asCalled(text)}\n`);
  const addTime = (text: string) => plain(`${clock()}  ${text}`);
  const news = (name: string, text: string) => {
    if (known.get(name) === text) return false;
    known.set(name, text);
    return true;
  };
  return {
    colors,
    chapter: (text: string) => plain(`\n${colors.bold(text)}`),
    event: addTime,
    trouble: (text: string) => addTime(colors.yellow(text)),
    success: (text: string) => addTime(colors.green(text)),
    plain,
    /** Narrates the changes since the last status. */
    status: (status: JourneyStatus) => {
      const view = viewStatus(status);
      for (const [name = '', ...cells] of describeParts(view, AS_TEXT).flatMap(({ rows }) => rows)) {
        const text = cells.filter((cell) => cell !== '').join(', ');
        if (cells[0] === 'pending' || !news(name, text)) continue;
        const line = `${name.padEnd(9)} ${text}`;
        addTime(text.includes('reference') ? colors.green(line) : line);
      }
      const standing = describeStanding(view);
      if (status.state === 'waitingAtGate' && news('gate', standing)) addTime(`gate      ${standing}`);
    },
  };
}
