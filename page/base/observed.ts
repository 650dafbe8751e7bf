/** A value that parts of the page watch: what is known in one place and shown in several. */
import { useEffect, useState } from 'preact/hooks';

export interface Observed<T> {
  get(): T;
  set(next: T): void;
  subscribe(listener: () => void): () => void;
}

export function observed<T>(first: T): Observed<T> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(value, next)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useObserved<T>(source: Observed<T>): T {
  const [value, show] = useState(source.get());
  useEffect(() => {
    const follow = () => show(() => source.get());
    follow();
    return source.subscribe(follow);
  }, [source]);
  return value;
}
