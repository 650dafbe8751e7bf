/** Titles, and where the focus goes when the view changes. */
import { useLayoutEffect } from 'preact/hooks';

/** The title changes together with the view: a reader of the new heading hears its title. */
export function useTitle(title: string): void {
  useLayoutEffect(() => {
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
