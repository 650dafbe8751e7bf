/** Tells the demo's story: one line for each thing that happens, with the seconds since the journey began. */
import pc from 'picocolors';
import type { JourneyStatus, ShareStatus, StageStatus } from '../../messages/journey/shapes.ts';
import { asCalled } from '../output/program-call.ts';

export type Narrator = ReturnType<typeof createNarrator>;

/** Colours on a terminal alone: elsewhere, or under NO_COLOR, the lines are plain. */
export function createNarrator(stream: NodeJS.WriteStream = process.stdout) {
  const isColoured = Boolean(stream.isTTY) && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  const colors = pc.createColors(isColoured);
  const beganAt = performance.now();
  const known = new Map<string, string>();
  const clock = () => colors.dim(`${((performance.now() - beganAt) / 1000).toFixed(1).padStart(6)} s`);
  const line = (text: string) => void stream.write(`${asCalled(text)}\n`);
  const addTime = (text: string) => line(`${clock()}  ${text}`);
  const news = (name: string, text: string) => {
    if (known.get(name) === text) return false;
    known.set(name, text);
    return true;
  };
  return {
    colors,
    chapter: (text: string) => line(`\n${colors.bold(text)}`),
    event: addTime,
    trouble: (text: string) => addTime(colors.yellow(text)),
    success: (text: string) => addTime(colors.green(text)),
    plain: line,
    /** Narrates the changes since the last status. */
    status: (status: JourneyStatus) => {
      for (const stage of status.stages) {
        const text = stageText(stage);
        if (stage.state === 'pending' || !news(stage.productCode, text)) continue;
        addTime(stage.state === 'record' ? colors.green(text) : text);
      }
      for (const share of status.shares) {
        // Before the stages are over there is nothing yet to consent to.
        if (share.state === 'awaitingConsent' && status.state !== 'waitingForConsent') continue;
        const text = shareText(share);
        if (news(share.shareId, text)) addTime(share.state === 'posted' ? colors.green(text) : text);
      }
      if (status.state === 'waitingAtGate' && news('gate', status.waitingFor ?? '')) {
        addTime(`gate      waits at the gate before ${status.waitingFor}`);
      }
    },
  };
}

function stageText({ productCode, state, attempts, reportReferenceNumber }: StageStatus): string {
  const name = productCode.padEnd(9);
  if (reportReferenceNumber === undefined) return `${name} ${state}${attempts > 0 ? `, attempt ${attempts}` : ''}`;
  return `${name} ${state}, reference ${reportReferenceNumber} (attempt ${attempts})`;
}

function shareText({ shareId, state, waitingFor, reportReferenceNumber }: ShareStatus): string {
  const name = `share ${shareId}`.padEnd(9);
  if (state === 'awaitingConsent') return `${name} awaits the consent of ${waitingFor.join(' and ') || 'nobody'}`;
  return `${name} ${state}${reportReferenceNumber === undefined ? '' : `, reference ${reportReferenceNumber}`}`;
}
