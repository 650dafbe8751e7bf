/** Says plainly what does not answer, since when, and what still works. */
import { away, type Part } from '../api/reachable.ts';
import { useObserved } from '../base/observed.ts';
import { timeWords } from '../base/time.ts';

const WORDS: Record<Part, { name: string; works: string }> = {
  api: {
    name: 'The API',
    works:
      'You can still read what is here, as of the time beside it. You cannot decide anything until the API answers again. The page keeps what you have typed.',
  },
  ledger: {
    name: 'The ledger',
    works: 'The page cannot refresh the list of what needs a person, and you cannot decide anything.',
  },
};

export function AwayNotice() {
  const parts = Object.entries(useObserved(away)) as [Part, number][];
  return (
    <div role="alert" class="away">
      {parts.map(([part, since]) => (
        <p key={part}>
          <b>
            {WORDS[part].name} does not answer, since {timeWords(since)}.
          </b>{' '}
          {WORDS[part].works} The page keeps asking.
        </p>
      ))}
    </div>
  );
}
