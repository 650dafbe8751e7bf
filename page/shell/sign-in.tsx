/** What is shown to who is not signed in: a field for a token where the server takes one, a plain sentence elsewhere. */
import { useEffect, useState } from 'preact/hooks';
import { useTitle } from '../base/focus.ts';
import { askWhetherBack, giveToken } from './session.ts';

const ASK_AGAIN_MS = 3_000;

export function SignInView({ takesToken, why }: { takesToken: boolean; why?: string | undefined }) {
  const [token, type] = useState('');
  const [isSending, setSending] = useState(false);
  useTitle('Sign in');
  useEffect(() => {
    if (takesToken) {
      document.getElementById('token')?.focus();
      return;
    }
    const ask = () => void askWhetherBack();
    const timer = setInterval(ask, ASK_AGAIN_MS);
    addEventListener('focus', ask);
    return () => {
      clearInterval(timer);
      removeEventListener('focus', ask);
    };
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
        <>
          <p>
            <a class="button primary" href={signInAddress()} target="_blank" rel="noreferrer">
              Sign in again, in another tab
            </a>
          </p>
          <p class="note">
            Then come back to this tab: it still has what you have typed. If you reload it, what you have typed is lost.
          </p>
        </>
      )}
    </main>
  );
}

/** Of the proxy that signs people in. Its session may outlast the token, so that the page itself would not lead there. */
function signInAddress(): string {
  return document.querySelector<HTMLMetaElement>('meta[name=sign-in]')?.content ?? '/';
}
