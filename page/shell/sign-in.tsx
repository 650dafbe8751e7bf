/** What is shown to who is not signed in: a field for a token where the server takes one, a plain sentence elsewhere. */
import { useEffect, useState } from 'preact/hooks';
import { useTitle } from '../base/focus.ts';
import { giveToken } from './session.ts';

export function SignInView({ takesToken, why }: { takesToken: boolean; why?: string | undefined }) {
  const [token, type] = useState('');
  const [isSending, setSending] = useState(false);
  useTitle('Sign in');
  // Whoever comes back from signing in elsewhere does not have to load the page again.
  useEffect(() => {
    if (takesToken) document.getElementById('token')?.focus();
  }, [takesToken]);
  const send = async (event: Event) => {
    event.preventDefault();
    setSending(true);
    await giveToken(token.trim());
    type('');
    setSending(false);
  };
  return (
    <main id="main" class="sign-in">
      <h1>Work queue</h1>
      {why ? <p role="alert">{why}</p> : null}
      {takesToken ? (
        <form onSubmit={send}>
          <label for="token">Token</label>
          <input
            id="token"
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            value={token}
            onInput={(event) => type(event.currentTarget.value)}
          />
          <p class="note">
            <code>credit-journey dev</code> prints an address that signs you in, and keeps a token in{' '}
            <code>api-token</code> of its data directory. This page never stores it.
          </p>
          <button class="primary" type="submit" disabled={isSending}>
            Sign in
          </button>
        </form>
      ) : (
        <p>
          You are not signed in. Sign in where your organization lets you in, then{' '}
          <a href="/" onClick={() => location.reload()}>
            load this page again
          </a>
          .
        </p>
      )}
    </main>
  );
}
