/** Single keys, where nobody is typing; and which of them the view at hand takes. */
import { useEffect, useRef } from 'preact/hooks';

export type Keys = Readonly<Record<string, ((event: KeyboardEvent) => void) | undefined>>;

/** What is named by `event.key`; with Ctrl or Cmd: `Ctrl+Enter`, which is taken in fields too. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const name = event.ctrlKey || event.metaKey ? `Ctrl+${event.key}` : event.key;
      const isPlain = name === event.key;
      if (event.altKey || event.defaultPrevented || event.isComposing) return;
      if (isPlain && event.key !== 'Escape' && isTyping(event.target)) return;
      // A dialog has its own keys.
      if (document.querySelector('dialog[open]')) return;
      const act = latest.current[name];
      if (!act) return;
      event.preventDefault();
      act(event);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'submit'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
