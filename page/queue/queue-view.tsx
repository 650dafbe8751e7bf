/** The first screen: what needs a person, the oldest first. */
import { useEffect, useRef } from 'preact/hooks';
import { get, withQuery, wordsOf } from '../api/call.ts';
import type { HoldCounts, Session } from '../api/schemas.ts';
import { focusOn, useTitle } from '../base/focus.ts';
import { useKeys } from '../base/keys.ts';
import { useObserved } from '../base/observed.ts';
import { usePolled } from '../base/polled.ts';
import { type Filters, goTo, queueAddress } from '../base/route.ts';
import { say } from '../base/say.tsx';
import { useNow } from '../base/time.ts';
import { Time } from '../base/when.tsx';
import { plural } from '../base/words.ts';
import { may } from '../shell/session.ts';
import { chooseNone, chosen as chosenHolds, toggle } from './chosen.ts';
import { GroupTable } from './group-table.tsx';
import { type Group, groupsOf } from './rows.ts';
import { Side } from './side.tsx';
import { type Queue, useQueue } from './use-queue.ts';

const COUNTS_EVERY_MS = 15_000;

/** The hold that the reader has opened last: coming back, the focus is there again. */
let opened: string | undefined;

export function rememberOpened(holdId: string | undefined): void {
  opened = holdId;
}

export function QueueView({ filters, session }: { filters: Filters; session: Session }) {
  const queue = useQueue(filters);
  const key = JSON.stringify(filters);
  const [counts, countNow] = usePolled(
    key,
    async (signal) => {
      const { kind, profile, endUserCode } = filters;
      return get<HoldCounts>(withQuery('/v1/holds/counts', { kind, profile, endUserCode }), signal);
    },
    COUNTS_EVERY_MS,
  );
  const chosen = useObserved(chosenHolds);
  const now = useNow();
  const rows = queue.data?.rows ?? [];
  const groups = groupsOf(rows);
  const mayDecide = may(session, 'holds:decide');
  const readAnew = () => {
    queue.tidy();
    void countNow();
  };
  useTitle(filters.failureType ? `${filters.failureType} · Work queue` : 'Work queue');
  useFirstFocus(queue);
  useNews(rows.filter(({ isGone }) => !isGone).length, queue.data !== undefined);
  useKeys({
    j: () => step(1),
    ArrowDown: () => step(1),
    k: () => step(-1),
    ArrowUp: () => step(-1),
    u: readAnew,
    x: () => {
      const hold = rows.find(({ hold: { holdId } }) => holdId === focusedHold())?.hold;
      if (hold && mayDecide) toggle(hold);
    },
    t: chosen.size > 0 ? () => goTo('#/together') : undefined,
    Escape: chosen.size > 0 ? chooseNone : Object.keys(filters).length > 0 ? () => goTo(queueAddress()) : undefined,
  });
  const known = {
    profiles: unique(rows.map(({ hold }) => hold.profile)),
    endUsers: unique(rows.flatMap(({ hold }) => hold.endUserCode ?? [])),
  };
  return (
    <div class="queue">
      <Side {...{ filters, counts, session, known, now }} />
      <main id="main" tabIndex={-1}>
        <div class="title">
          <h1>What needs a person</h1>
          <Freshness {...{ queue, readAnew }} />
        </div>
        {queue.error && !queue.data ? <p class="none">The list cannot be read: {wordsOf(queue.error)}</p> : null}
        {!queue.data && !queue.error ? <p class="none">Reading the list …</p> : null}
        {queue.data && groups.length === 0 ? <Nothing isFiltered={Object.keys(filters).length > 0} /> : null}
        {(['held', 'flagged'] as const).map((kind) => (
          <Kind key={kind} kind={kind} groups={groups.filter((one) => one.kind === kind)}>
            {(group) => (
              <GroupTable
                key={group.failureType}
                {...{ group, now, mayDecide, chosen }}
                total={totalOf(group, counts.data)}
                isOnly={filters.failureType === group.failureType}
              />
            )}
          </Kind>
        ))}
        {queue.data?.hasMore ? (
          <p class="more">
            <button type="button" onClick={() => queue.more()} disabled={queue.isReadingMore}>
              {queue.isReadingMore ? 'Reading …' : 'More'}
            </button>
          </p>
        ) : null}
        <p class="note together-note">
          {mayDecide ? (
            <>
              Has the provider answered for many at once? <a href="#/together">Decide by its answers</a>.
            </>
          ) : (
            'Your token may read this list but decide nothing: it lacks `holds:decide`.'
          )}
        </p>
      </main>
      {chosen.size > 0 ? (
        <section class="chosen-bar" aria-label="Chosen">
          <p>
            <b>{plural(chosen.size, 'hold')}</b> of {[...chosen.values()][0]?.failureType} chosen
          </p>
          <a class="button primary" href="#/together">
            Decide together <kbd>t</kbd>
          </a>
          <button type="button" onClick={chooseNone}>
            Choose none
          </button>
        </section>
      ) : null}
    </div>
  );
}

const KIND_TITLES = { held: 'Waiting for a decision', flagged: 'To look at: no run waits for these' };

interface KindProps {
  kind: 'held' | 'flagged';
  groups: readonly Group[];
  children: (group: Group) => preact.JSX.Element;
}

function Kind({ kind, groups, children }: KindProps) {
  if (groups.length === 0) return null;
  return (
    <section class="kind">
      <h2>{KIND_TITLES[kind]}</h2>
      {groups.map(children)}
    </section>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return (
    <p class="nothing">
      {isFiltered ? (
        <>
          Nothing of this kind needs a person. <a href={queueAddress()}>Show everything</a>
        </>
      ) : (
        'Nothing needs a person.'
      )}
    </p>
  );
}

function Freshness({ queue, readAnew }: { queue: Queue; readAnew: () => void }) {
  const gone = queue.data?.rows.filter(({ isGone }) => isGone).length ?? 0;
  return (
    <p class="freshness">
      {queue.data ? (
        <>
          as of <Time at={queue.data.asOf} />
        </>
      ) : null}
      {gone > 0 ? `, ${gone} gone since` : null}{' '}
      <button type="button" class="quiet" onClick={readAnew} aria-keyshortcuts="u">
        {gone > 0 ? 'Remove what has gone' : 'Refresh'} <kbd>u</kbd>
      </button>
    </p>
  );
}

function totalOf(group: Group, counts: HoldCounts | undefined) {
  return counts?.counts.find(({ kind, failureType }) => kind === group.kind && failureType === group.failureType);
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

/** The first hold, or the one that the reader comes back from; never where the reader is somewhere already. */
function useFirstFocus(queue: Queue): void {
  const isDone = useRef(false);
  const isThere = queue.data !== undefined;
  useEffect(() => {
    if (!isThere || isDone.current) return;
    isDone.current = true;
    const { activeElement } = document;
    if (activeElement && activeElement !== document.body && !activeElement.matches('main')) return;
    const row =
      opened === undefined ? null : document.querySelector(`tr[data-hold="${CSS.escape(opened)}"] .hold-link`);
    if (row instanceof HTMLElement) row.focus();
    else focusOn('tr:not(.gone) .hold-link') || focusOn('#main');
  }, [isThere]);
}

/** Says that there is more or less than before, once. */
function useNews(count: number, isRead: boolean): void {
  const before = useRef<number>(undefined);
  useEffect(() => {
    if (!isRead) return;
    const change = before.current === undefined ? 0 : count - before.current;
    before.current = count;
    if (change > 0) say(`${change} more on the list`);
    if (change < 0) say(`${-change} gone from the list`);
  }, [count, isRead]);
}

function step(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('.hold-link')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const to = at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by));
  links[to]?.focus();
}

function focusedHold(): string | undefined {
  const row = document.activeElement?.closest('tr[data-hold]');
  return row instanceof HTMLElement ? row.dataset.hold : undefined;
}
