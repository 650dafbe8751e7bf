/** The commands that pass a closed gate. Pure. */
import { type RunView, readRunKey } from './runs.ts';

export interface GateWay {
  words?: string;
  command: string;
}

const SIGNED = '--by WHO --reason WHY';

/** Returns the ways that end the run's wait at a gate; none if it waits for something else. */
export function listGateWays({ status, gate, stages, holds, isEnding = false }: RunView): GateWay[] {
  if (!gate || holds.length > 0 || isEnding || !('stages' in status)) return [];
  const { reportTooOld: tooOld } = status;
  const { before } = gate;
  const shell = `credit-journey advance ${readRunKey(status)} \\\n`;
  const known = stages ?? status.stages;
  const pending = known.filter(({ state }) => state === 'pending').map(({ productCode }) => productCode);
  const after = pending[pending.indexOf(before) + 1];
  const ways: GateWay[] = [];
  if (tooOld === undefined) {
    ways.push({ command: `${shell} --to ${before}` });
  } else {
    const occurrence = (known.findLast(({ productCode }) => productCode === tooOld)?.occurrence ?? 1) + 1;
    ways.push(
      {
        words: `Pull ${tooOld} once more, a further inquiry:`,
        command: `${shell} --repeat ${tooOld} --occurrence ${occurrence} \\\n ${SIGNED}`,
      },
      {
        words: 'Or accept the report as it is:',
        command: `${shell} --to ${before} --accept-age \\\n ${SIGNED}`,
      },
    );
  }
  if (after !== undefined) {
    ways.push({
      words: `Or ${after} follows without ${before}, which is never pulled:`,
      command: `${shell} --to ${after} --skip ${before} \\\n ${SIGNED}`,
    });
  }
  return ways;
}
