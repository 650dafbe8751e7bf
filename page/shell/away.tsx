/** Says plainly what does not answer, since when, and what still works. */
import { away, type Part } from '../api/reachable.ts';
import { useObserved } from '../base/observed.ts';
import { timeWords } from '../base/time.ts';

const WORDS: Record<Part, { name: string; works: string }> = {
  api: {
    name: 'The API',
    works:
      'What you see is as of the time beside it, and stays readable. Nothing can be decided until the API answers again; what you have typed is kept.',
  },
  ledger: {
    name: 'The ledger',
    works:
      'The list of what needs a person cannot be read anew, and no decision is taken. The runs that wait are still counted.',
  },
  temporal: {
    name: 'Temporal',
    works:
      'The list comes from the ledger and is complete, and each run’s story is told from there. The runs that wait are not counted, and a decision may have to wait until Temporal answers again.',
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
          {WORDS[part].works} It is asked again by itself.
        </p>
      ))}
    </div>
  );
}
