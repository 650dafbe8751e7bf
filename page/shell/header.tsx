/** Above every view: where one is, the search, who acts, and how fresh things are. */
import { useState } from 'preact/hooks';
import type { Session } from '../api/schemas.ts';
import { goTo, queueAddress, searchAddress } from '../base/route.ts';
import { signOut } from './session.ts';

export function Header({ session, onKeys }: { session: Session; onKeys: () => void }) {
  return (
    <header class="top">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <a class="brand" href={queueAddress()}>
        credit-journey <span>work queue</span>
      </a>
      <span class={`environment ${session.environment}`} title="The environment that this API serves">
        {session.environment}
      </span>
      <SearchBox />
      <span class="who">
        {session.by ? (
          <>
            <span class="acting">Acting as</span> <b>{session.by}</b>
          </>
        ) : (
          'This token does not say who acts'
        )}
      </span>
      <button type="button" class="quiet" onClick={onKeys} aria-keyshortcuts="?">
        Keys <kbd>?</kbd>
      </button>
      {session.signOutAt ? (
        <a class="quiet" href={session.signOutAt}>
          Sign out
        </a>
      ) : null}
      {session.signOut ? (
        <button type="button" class="quiet" onClick={() => void signOut()}>
          Sign out
        </button>
      ) : null}
    </header>
  );
}

function SearchBox() {
  const [q, type] = useState('');
  const search = (event: Event) => {
    event.preventDefault();
    const wanted = q.trim();
    if (wanted === '') return;
    goTo(searchAddress(wanted));
    type('');
  };
  return (
    <search>
      <form onSubmit={search}>
        <label class="unseen" for="search">
          Find by journey id, trace number, share id or decision id
        </label>
        <input
          id="search"
          type="search"
          maxLength={150}
          autocomplete="off"
          spellcheck={false}
          placeholder="Journey, trace number, share or decision"
          aria-keyshortcuts="/"
          value={q}
          onInput={(event) => type(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.preventDefault();
            event.currentTarget.blur();
          }}
        />
      </form>
    </search>
  );
}
