/** What is said to screen readers without moving them: results, and what has changed by itself. */
import { observed, useObserved } from './observed.ts';

const said = observed('');

export function say(words: string): void {
  said.set('');
  // The same words twice are said twice.
  setTimeout(() => said.set(words), 50);
}

export function Said() {
  const words = useObserved(said);
  return (
    <div class="unseen" role="status" aria-live="polite">
      {words}
    </div>
  );
}
