/** What became of a decision: of another one that stands, and of ours until the lists agree. */
import { useEffect, useState } from 'preact/hooks';
import type { DecidedBefore as Decided, Hold } from '../api/schemas.ts';
import { Time } from '../base/when.tsx';
import { holdsOfRun } from '../run/run-holds.ts';
import type { Taken } from './sending.ts';

export function DecidedBefore({ decided: { action, by, at, decisionId }, words }: { decided: Decided; words: string }) {
  return (
    <div role="alert" class="warning">
      <p>
        <b>
          {by} has decided: {action}, at <Time at={at} />.
        </b>{' '}
        Your decision was refused: {words}.
      </p>
      <p class="note">
        Decision <code>{decisionId}</code>
      </p>
    </div>
  );
}

const FIRST_LOOK_MS = 500;
const LOOKS = 12;

/** Whether the list still has it: it lags by a moment, and the answer counts until then. */
function useOnList(hold: Hold): boolean | undefined {
  const [isThere, show] = useState<boolean>();
  const { runKey } = hold;
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const look = async (time: number) => {
      const isGone = await holdsOfRun(runKey, stop.signal).then(
        (list) => list.isGone(hold),
        () => undefined,
      );
      if (stop.signal.aborted) return;
      if (isGone !== undefined) show(!isGone);
      if (!isGone && time < LOOKS) timer = setTimeout(look, FIRST_LOOK_MS * (time + 1), time + 1);
    };
    void look(0);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [hold, runKey]);
  return isThere;
}

interface TakenProps {
  hold: Hold;
  action: string;
  answer: Taken;
  /** Called once the list no longer has the hold: the headline of the run is then read again. */
  onGone: () => void;
}

export function TakenNotice({ hold, action, answer: { duplicate, recorded, heldBy }, onGone }: TakenProps) {
  const isThere = useOnList(hold);
  useEffect(() => {
    if (isThere === false) onGone();
  }, [isThere]);
  return (
    <div class="taken" tabIndex={-1} id="taken">
      <p>
        <b>{action === 'seen' ? 'Taken off the list.' : `Decided: ${action}.`}</b>{' '}
        {duplicate ? 'It had been accepted before. ' : ''}
        {recorded === true ? 'The ledger has it. ' : ''}
        {recorded === false ? 'The run has it; the ledger does not have it yet. ' : ''}
        {heldBy === 'ledger' ? 'There is no run. The next start of this id continues with the decision. ' : ''}
      </p>
      <p class="note">
        {isThere === false
          ? 'The list no longer has it.'
          : 'The list may still show it for a moment. The decision counts all the same.'}
      </p>
    </div>
  );
}
