/** Reads the queue page by page, and again by itself. */
import { useCallback, useRef, useState } from 'preact/hooks';
import { get, withQuery } from '../api/call.ts';
import { answers } from '../api/reachable.ts';
import type { Hold, HoldList } from '../api/schemas.ts';
import { whenForgotten } from '../base/kept.ts';
import { observed } from '../base/observed.ts';
import { type Polled, usePolled } from '../base/polled.ts';
import type { Filters } from '../base/route.ts';
import { mergeRows, type Row } from './rows.ts';

/** As many as the API gives at once. */
const PAGE = 200;
const EVERY_MS = 10_000;

interface Shown {
  key: string;
  rows: Row[];
  pages: number;
  /** Where the page after the last one begins. */
  next?: string | undefined;
  asOf?: string;
}

/** As it was shown last, also while another view is. */
let last: Shown | undefined;

function remembered(key: string): Shown {
  if (last?.key !== key) return { key, rows: [], pages: 1 };
  return { ...last, rows: last.rows.filter(({ isGone }) => !isGone) };
}

interface Read {
  rows: Row[];
  asOf: string;
  hasMore: boolean;
}

export interface Queue extends Polled<Read> {
  more(): void;
  isReadingMore: boolean;
  /** Reads at once, and takes off what has gone. */
  tidy(): void;
}

/** The latest list of any view, so that a hold is shown at once, and the next one is known. */
export const latestHolds = observed<readonly Hold[]>([]);

whenForgotten(() => {
  last = undefined;
  latestHolds.set([]);
});

export function useQueue(filters: Filters): Queue {
  const key = JSON.stringify(filters);
  const shown = useRef(remembered(key));
  if (shown.current.key !== key) shown.current = remembered(key);
  const [isReadingMore, setReadingMore] = useState(false);

  const wantsMore = useRef(false);

  const pageAfter = (after: string | undefined, signal: AbortSignal) =>
    get<HoldList>(withQuery('/v1/holds', { ...filters, limit: String(PAGE), after }), signal);

  const read = async (signal: AbortSignal): Promise<Read> => {
    const { next: from } = shown.current;
    const isMore = wantsMore.current && from !== undefined;
    wantsMore.current = false;
    if (isMore) {
      const { data, next } = await pageAfter(from, signal);
      answers('ledger');
      const known = new Set(shown.current.rows.map(({ hold }) => hold.holdId));
      const added = data.filter(({ holdId }) => !known.has(holdId)).map((hold) => ({ hold, isGone: false }));
      return shownNow([...shown.current.rows, ...added], { next, pages: shown.current.pages + 1 });
    }
    const fresh: Hold[] = [];
    let next: string | undefined;
    let asOf = '';
    for (let page = 0; page < shown.current.pages; page++) {
      const answer = await pageAfter(next, signal);
      answers('ledger');
      fresh.push(...answer.data);
      asOf ||= answer.asOf;
      next = answer.next;
      if (next === undefined) break;
    }
    const rows = mergeRows(shown.current.rows, fresh, next === undefined);
    return shownNow(rows, { next, asOf });
  };
  const shownNow = (rows: Row[], now: Partial<Shown> & Pick<Shown, 'next'>): Read => {
    shown.current = { ...shown.current, rows, ...now };
    last = shown.current;
    latestHolds.set(rows.filter(({ isGone }) => !isGone).map(({ hold }) => hold));
    return { rows, asOf: shown.current.asOf ?? '', hasMore: now.next !== undefined };
  };
  // All that is shown is read anew: the more there is, the less often.
  const [state, readNow] = usePolled(key, read, EVERY_MS * Math.ceil(shown.current.pages / 3));
  const { rows, asOf } = shown.current;
  // Coming back, the reader finds the list as it was left, until it is read anew.
  const before = asOf === undefined ? {} : { data: { rows, asOf, hasMore: shown.current.next !== undefined } };

  const more = useCallback(async () => {
    wantsMore.current = true;
    setReadingMore(true);
    await readNow();
    setReadingMore(false);
  }, [readNow]);
  const tidy = useCallback(() => {
    shown.current = { ...shown.current, rows: shown.current.rows.filter(({ isGone }) => !isGone) };
    void readNow();
  }, [readNow]);
  return { ...before, ...state, more, isReadingMore, tidy };
}
