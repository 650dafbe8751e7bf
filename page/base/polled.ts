/** Reads something again and again while the page is looked at. What was read last stays when a reading fails. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { SignedOutError } from '../api/call.ts';
import { signedOut } from '../shell/session.ts';

export interface Polled<T> {
  data?: T;
  /** Of the latest reading; absent once one succeeds. */
  error?: unknown;
  /** When `data` was read, as milliseconds since 1970. */
  readAt?: number;
}

/** Longer and longer while nothing answers. */
const SLOWEST_MS = 30_000;

/**
 * `read` is called anew where `key` changes; data of another key are not shown.
 * The second value reads at once.
 */
export function usePolled<T>(
  key: string,
  read: (signal: AbortSignal) => Promise<T>,
  everyMs: number,
): [Polled<T>, () => Promise<void>] {
  const [state, show] = useState<{ key: string } & Polled<T>>({ key });
  const latest = useRef(read);
  latest.current = read;
  const stop = useRef<AbortController>(undefined);

  const readNow = useCallback(async () => {
    stop.current?.abort();
    const mine = new AbortController();
    stop.current = mine;
    try {
      const data = await latest.current(mine.signal);
      if (!mine.signal.aborted) show({ key, data, readAt: Date.now() });
    } catch (error) {
      if (mine.signal.aborted) return;
      if (error instanceof SignedOutError) signedOut();
      show((before) => (before.key === key ? { ...before, error } : { key, error }));
    }
  }, [key]);

  useEffect(() => {
    let failures = 0;
    let timer: ReturnType<typeof setTimeout>;
    let isOver = false;
    const again = async () => {
      clearTimeout(timer);
      if (!document.hidden) await readNow();
      if (isOver) return;
      failures = hasFailed.current ? failures + 1 : 0;
      timer = setTimeout(again, failures === 0 ? everyMs : Math.min(SLOWEST_MS, 2_000 * 2 ** Math.min(failures, 4)));
    };
    const onVisible = () => {
      if (!document.hidden) void again();
    };
    void again();
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      isOver = true;
      clearTimeout(timer);
      stop.current?.abort();
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [readNow, everyMs]);

  const hasFailed = useRef(false);
  const shown = state.key === key ? state : { key };
  hasFailed.current = 'error' in shown && shown.error !== undefined;
  return [shown, readNow];
}
