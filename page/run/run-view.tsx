/** One run: its state, its holds and what may be done about them, and its story. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, ProblemError, wordsOf } from '../api/call.ts';
import type { Hold, RunStory, Session } from '../api/schemas.ts';
import { focusOn, useTitle } from '../base/focus.ts';
import { useKeys } from '../base/keys.ts';
import { type Polled, usePolled } from '../base/polled.ts';
import { goTo, queueAddress } from '../base/route.ts';
import { useNow } from '../base/time.ts';
import { Time } from '../base/when.tsx';
import { plural } from '../base/words.ts';
import { rememberOpened } from '../queue/queue-view.tsx';
import { latestHolds } from '../queue/use-queue.ts';
import { HoldCard } from './hold-card.tsx';
import { Inquiries } from './inquiries.tsx';
import { holdsOfRun, type RunHolds } from './run-holds.ts';

const EVERY_MS = 10_000;
/** A review may have thousands. */
const MOST_CARDS = 20;

interface RunProps {
  runKey: string;
  holdId: string | undefined;
  action: string | undefined;
  session: Session;
}

export function RunView({ runKey, holdId, action, session }: RunProps) {
  const [story, tellNow] = usePolled(
    runKey,
    (signal) => get<RunStory>(`/v1/runs/${encodeURIComponent(runKey)}/story`, signal),
    EVERY_MS,
  );
  const [listed, listNow] = usePolled(runKey, (signal) => holdsOfRun(runKey, signal), EVERY_MS);
  const now = useNow(5_000);
  const holds = useShownHolds(runKey, listed.data);
  const current = holds.find(({ hold }) => hold.holdId === holdId) ?? holds[0];
  const isUnknown = story.error instanceof ProblemError && story.error.problem.status === 404;
  const back = () => goTo(queueAddress());
  useTitle(`${runKey} · Run`);
  useEffect(() => rememberOpened(holdId), [holdId]);
  useKeys({
    Escape: action === undefined ? back : undefined,
    u: () => {
      void tellNow();
      void listNow();
    },
  });
  useArrival(runKey, holdId, current !== undefined, action !== undefined);
  const shown = [...holds].sort((one) => (one === current ? -1 : 0)).slice(0, MOST_CARDS);
  return (
    <main id="main" class="run-view" tabIndex={-1}>
      <p class="back">
        <a href={queueAddress()}>
          The queue <kbd>Esc</kbd>
        </a>
      </p>
      <div class="title">
        <h1 tabIndex={-1} id="run-title">
          {runKey}
        </h1>
        {story.data ? (
          <p class="freshness">
            as of <Time at={story.data.asOf} />
          </p>
        ) : null}
      </div>
      <Headline story={story} isUnknown={isUnknown} />
      {shown.map(({ hold, isGone }) => (
        <HoldCard
          key={hold.holdId}
          {...{ hold, isGone, session, now }}
          isCurrent={hold === current?.hold}
          action={hold === current?.hold ? action : undefined}
          onDecided={() => {
            void tellNow();
            void listNow();
          }}
        />
      ))}
      {holds.length > MOST_CARDS ? (
        <p class="note">
          {plural(holds.length - MOST_CARDS, 'more hold')}: open each from the queue, or decide about them together.
        </p>
      ) : null}
      {story.data ? <Lines story={story.data} /> : null}
      {isUnknown ? null : <Inquiries runKey={runKey} session={session} />}
    </main>
  );
}

/** From the queue at once, then as the list has them; one that goes stays, so that nothing moves under a decision. */
function useShownHolds(runKey: string, listed: RunHolds | undefined): { hold: Hold; isGone: boolean }[] {
  const [known, keep] = useState<{ runKey: string; holds: readonly Hold[] }>({ runKey: '', holds: [] });
  const first = latestHolds.get().filter((hold) => hold.runKey === runKey);
  const before = known.runKey === runKey ? known.holds : first;
  useEffect(() => {
    const fresh = new Map((listed?.holds ?? []).map((hold) => [hold.holdId, hold]));
    const kept = before.map((hold) => fresh.get(hold.holdId) ?? hold);
    const added = [...fresh.values()].filter(({ holdId }) => !before.some((hold) => hold.holdId === holdId));
    keep({ runKey, holds: [...kept, ...added] });
  }, [runKey, listed]);
  return before.map((hold) => ({ hold, isGone: listed?.isGone(hold) ?? false }));
}

/** The heading of what was opened takes the focus, once. */
function useArrival(runKey: string, holdId: string | undefined, isThere: boolean, hasForm: boolean): void {
  const arrived = useRef('');
  useEffect(() => {
    const here = `${runKey} ${holdId}`;
    if (arrived.current === here) return;
    // The form of a decision has taken the focus.
    if (hasForm && isThere) {
      arrived.current = here;
      return;
    }
    const isHold = holdId !== undefined && focusOn(`#${CSS.escape(`hold-${holdId}`)}`);
    if (!isHold && arrived.current === '') focusOn('#run-title');
    if (isHold || holdId === undefined || isThere) arrived.current = here;
  }, [runKey, holdId, isThere, hasForm]);
}

function Headline({ story: { data, error }, isUnknown }: { story: Polled<RunStory>; isUnknown: boolean }) {
  if (isUnknown) return <p class="headline">There is no run of this name, or your token does not reach it.</p>;
  if (!data) {
    return <p class="headline none">{error ? `The story cannot be read: ${wordsOf(error)}` : 'Reading its story …'}</p>;
  }
  return (
    <>
      <p class="headline">
        <span class="state">{data.state}</span> {data.headline}
      </p>
      {data.temporalUi ? (
        <p class="note">
          <a href={data.temporalUi} target="_blank" rel="noreferrer">
            This run in the Temporal UI
          </a>
        </p>
      ) : null}
    </>
  );
}

function Lines({ story: { lines, fromLedger, isWhole, messages } }: { story: RunStory }) {
  return (
    <section aria-labelledby="story-title" class="story">
      <h2 id="story-title">What happened</h2>
      {fromLedger ? <p class="note">This is from the ledger, because the run does not answer.</p> : null}
      {isWhole ? null : <p class="note">The story is longer than this: the command line shows all of it.</p>}
      {lines.length === 0 ? <p class="none">Nothing yet.</p> : null}
      <ol>
        {lines.map(({ at, text, by, reason, customerTraceNumber, attempt }, place) => (
          <li key={place}>
            <Time at={at} />
            <div>
              <p>{text}</p>
              {by || reason ? (
                <p class="note">
                  {by ? `By ${by}` : ''}
                  {by && reason ? ': ' : ''}
                  {reason ?? ''}
                </p>
              ) : null}
              {customerTraceNumber ? (
                <p class="note">
                  <code>{customerTraceNumber}</code>
                  {attempt ? ` attempt ${attempt}` : ''}
                </p>
              ) : null}
            </div>
          </li>
        ))}
      </ol>
      {messages.length > 0 ? (
        <>
          <h3>Messages that it has refused</h3>
          <ol>
            {messages.map(({ message, at, reason, consentId }) => (
              <li key={`${at} ${message} ${consentId}`}>
                <Time at={at} />
                <div>
                  <p>
                    {message}
                    {consentId ? `, consent ${consentId}` : ''}: {reason}
                  </p>
                </div>
              </li>
            ))}
          </ol>
        </>
      ) : null}
    </section>
  );
}
