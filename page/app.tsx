/** The whole page: who is signed in, where the reader is, and what is the same on every view. */
import { useEffect, useState } from 'preact/hooks';
import type { Session } from './api/schemas.ts';
import { useKeys } from './base/keys.ts';
import { useObserved } from './base/observed.ts';
import { goTo, queueAddress, route } from './base/route.ts';
import { Said } from './base/say.tsx';
import { QueueView } from './queue/queue-view.tsx';
import { RunView } from './run/run-view.tsx';
import { AwayNotice } from './shell/away.tsx';
import { Header } from './shell/header.tsx';
import { KeyHelp } from './shell/key-help.tsx';
import { SearchView } from './shell/search-view.tsx';
import { askWhoIsIn, signIn } from './shell/session.ts';
import { SignInView } from './shell/sign-in.tsx';
import { TogetherView } from './together/together-view.tsx';

const ASK_AGAIN_MS = 3_000;

export function App() {
  const signed = useObserved(signIn);
  useEffect(() => {
    if (signed.state !== 'away') return;
    const timer = setInterval(() => void askWhoIsIn(), ASK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [signed.state]);
  return (
    <>
      <Said />
      {signed.state === 'in' ? <SignedIn key={signed.session.by} session={signed.session} /> : null}
      {signed.state === 'out' ? <SignInView takesToken={signed.takesToken} why={signed.why} /> : null}
      {signed.state === 'asking' || signed.state === 'away' ? (
        <main id="main" class="sign-in">
          <h1>Work queue</h1>
          <p role={signed.state === 'away' ? 'alert' : undefined}>
            {signed.state === 'away' ? 'The API does not answer. The page keeps asking.' : 'Asking who you are …'}
          </p>
        </main>
      ) : null}
    </>
  );
}

function SignedIn({ session }: { session: Session }) {
  const where = useObserved(route);
  const [isHelping, help] = useState(false);
  useKeys({
    '?': () => help(true),
    '/': () => document.getElementById('search')?.focus(),
    g: () => goTo(queueAddress()),
  });
  return (
    <>
      <Header session={session} onKeys={() => help(true)} />
      <AwayNotice />
      {where.view === 'queue' ? <QueueView filters={where.filters} session={session} /> : null}
      {where.view === 'run' ? (
        <RunView key={where.runKey} {...where} holdId={where.holdId} action={where.action} session={session} />
      ) : null}
      {where.view === 'together' ? <TogetherView session={session} /> : null}
      {where.view === 'search' ? <SearchView q={where.q} /> : null}
      {isHelping ? <KeyHelp onClose={() => help(false)} /> : null}
    </>
  );
}
