/** The runs behind one count of what waits. */
import { get, withQuery, wordsOf } from '../api/call.ts';
import type { RunList, WaitingCounts } from '../api/schemas.ts';
import { useTitle } from '../base/focus.ts';
import { useKeys } from '../base/keys.ts';
import { usePolled } from '../base/polled.ts';
import { goTo, queueAddress, runAddress } from '../base/route.ts';
import { useNow } from '../base/time.ts';
import { Age, Time } from '../base/when.tsx';
import { plural } from '../base/words.ts';

const EVERY_MS = 15_000;
const MOST = 200;

export function WaitingView({ waitsFor }: { waitsFor: string }) {
  const [{ data, error }] = usePolled(
    waitsFor,
    async (signal) => {
      const [runs, { counts }] = await Promise.all([
        get<RunList>(withQuery('/v1/runs', { waitsFor, limit: String(MOST) }), signal),
        get<WaitingCounts>('/v1/waiting', signal),
      ]);
      return { ...runs, words: counts.find((count) => count.waitsFor === waitsFor)?.words ?? 'this' };
    },
    EVERY_MS,
  );
  const now = useNow();
  const title = data ? `Waits for ${data.words}` : 'Runs that wait';
  useTitle(title);
  useKeys({ Escape: () => goTo(queueAddress()) });
  return (
    <main id="main" tabIndex={-1} class="search-view">
      <h1>{title}</h1>
      {error ? <p role="alert">{data ? 'This list is old: it cannot be read now.' : wordsOf(error)}</p> : null}
      {!data && !error ? <p class="none">Looking …</p> : null}
      {data ? (
        <p class="note">
          {data.data.length === 0 ? 'No run waits for this.' : plural(data.data.length, 'run')}
          {data.hasMore ? ', and there are more' : ''}, as of <Time at={data.asOf} />. Temporal may be a second behind.
        </p>
      ) : null}
      <ul>
        {(data?.data ?? []).map(({ runKey, startedAt, stage, needsAttention }) => (
          <li key={runKey}>
            <a href={runAddress(runKey)}>{runKey}</a>{' '}
            <span class="note">
              {[stage, needsAttention].filter(Boolean).join(', ')} began <Age since={startedAt} now={now} /> ago
            </span>
          </li>
        ))}
      </ul>
    </main>
  );
}
