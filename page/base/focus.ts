/** Titles, and where the focus goes when the view changes. */
import { useEffect } from 'preact/hooks';

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · credit-journey`;
  }, [title]);
}

/** Readers are told where they are: a heading takes the focus, and is not in the order of Tab. */
export function focusOn(selector: string): boolean {
  const found = document.querySelector<HTMLElement>(selector);
  if (!found) return false;
  found.focus();
  return document.activeElement === found;
}
