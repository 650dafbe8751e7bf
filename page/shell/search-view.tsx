/** What an id leads to: at once where it is one run, otherwise a list. */
import { useEffect, useState } from 'preact/hooks';
import { get, SignedOutError, withQuery, wordsOf } from '../api/call.ts';
import type { SearchAnswer } from '../api/schemas.ts';
import { focusOn, useTitle } from '../base/focus.ts';
import { useKeys } from '../base/keys.ts';
import { goTo, queueAddress, runAddress } from '../base/route.ts';
import { say } from '../base/say.tsx';
import { plural } from '../base/words.ts';
import { signedOut } from './session.ts';

const KINDS: Readonly<Record<string, string>> = { portfolio: 'review', share: 'share by itself' };

export function SearchView({ q }: { q: string }) {
  const [found, show] = useState<{ q: string; matches?: SearchAnswer['data']; isWhole?: boolean; words?: string }>({
    q,
  });
  useTitle('Search');
  useKeys({ Escape: () => goTo(queueAddress()) });
  useEffect(() => {
    const stop = new AbortController();
    show({ q });
    get<SearchAnswer>(withQuery('/v1/search', { q }), stop.signal).then(
      ({ data: matches, isWhole }) => {
        const owners = new Set(matches.map(({ runKey }) => runKey));
        const [only] = owners;
        if (isWhole && only !== undefined && owners.size === 1) return goTo(runAddress(only), { replace: true });
        show({ q, matches, isWhole });
        say(plural(matches.length, 'match', 'matches'));
        focusOn('#search-title');
      },
      (error) => {
        if (stop.signal.aborted) return;
        if (error instanceof SignedOutError) signedOut();
        show({ q, words: wordsOf(error) });
      },
    );
    return () => stop.abort();
  }, [q]);
  const { matches, isWhole, words } = found;
  return (
    <main id="main" tabIndex={-1} class="search-view">
      <h1 id="search-title" tabIndex={-1}>
        Search: <code>{q}</code>
      </h1>
      {words ? <p role="alert">{words}</p> : null}
      {!matches && !words ? <p class="none">Looking …</p> : null}
      {matches?.length === 0 ? (
        <p>
          Nothing has exactly this id, or your token does not reach it. Enter a whole id: of a journey, a pull, a share
          or a review, a trace number, or a decision id.
        </p>
      ) : null}
      <ul>
        {(matches ?? []).map(({ what, runKey, customerTraceNumber, shareId, decisionId }) => (
          <li key={`${what} ${runKey} ${customerTraceNumber} ${decisionId} ${shareId}`}>
            <a href={runAddress(runKey)}>{runKey}</a>{' '}
            <span class="note">
              {KINDS[what] ?? what}
              {customerTraceNumber ? `, trace number ${customerTraceNumber}` : ''}
              {shareId ? `, share ${shareId}` : ''}
              {decisionId ? `, decision ${decisionId}` : ''}
            </span>
          </li>
        ))}
      </ul>
      {isWhole === false ? <p class="note">There may be more matches than these.</p> : null}
    </main>
  );
}
