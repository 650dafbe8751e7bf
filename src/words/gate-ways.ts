/** The ways past a closed gate, as a command and as the input of the update `advance`. Pure. */
import { type RunView, readRunKey } from './runs.ts';

export interface GateWay {
  words?: string;
  command: string;
  input: object;
}

const DECISION = { by: '', reason: '' };
const SIGNED = '--by WHO --reason WHY';

/** Returns the ways that end the run's wait at a gate; none if it waits for something else. */
export function listGateWays({ status, gate, stages, holds, isEnding = false }: RunView): GateWay[] {
  if (!gate || holds.length > 0 || isEnding || !('stages' in status)) return [];
  const { reportTooOld: tooOld } = status;
  const { before } = gate;
  const journeyId = readRunKey(status);
  const shell = `credit-journey advance ${journeyId} \\\n`;
  const known = stages ?? status.stages;
  const pending = known.filter(({ state }) => state === 'pending').map(({ productCode }) => productCode);
  const after = pending[pending.indexOf(before) + 1];
  const ways: GateWay[] = [];
  if (tooOld === undefined) {
    ways.push({ command: `${shell} --to ${before}`, input: { journeyId, to: before } });
  } else {
    const occurrence = (known.findLast(({ productCode }) => productCode === tooOld)?.occurrence ?? 1) + 1;
    ways.push(
      {
        words: `Pull ${tooOld} once more, a further inquiry:`,
        command: `${shell} --repeat ${tooOld} --occurrence ${occurrence} \\\n ${SIGNED}`,
        input: { journeyId, repeat: tooOld, occurrence, ...DECISION },
      },
      {
        words: 'Or accept the report as it is:',
        command: `${shell} --to ${before} --accept-age \\\n ${SIGNED}`,
        input: { journeyId, to: before, acceptAge: true, ...DECISION },
      },
    );
  }
  if (after !== undefined) {
    ways.push({
      words: `Or ${after} follows without ${before}, which is never pulled:`,
      command: `${shell} --to ${after} --skip ${before} \\\n ${SIGNED}`,
      input: { journeyId, to: after, skip: before, ...DECISION },
    });
  }
  return ways;
}
