/** Who is signed in. The token itself is in a cookie that no script reads, or comes from a proxy. */
import { call, get, ProblemError, SignedOutError } from '../api/call.ts';
import type { Session } from '../api/schemas.ts';
import { forget } from '../base/kept.ts';
import { observed } from '../base/observed.ts';

export type SignIn =
  | { state: 'asking' }
  | { state: 'in'; session: Session }
  /** `takesToken`: a field may be shown. `why`: what went wrong. */
  | { state: 'out'; takesToken: boolean; why?: string }
  | { state: 'away' };

export const signIn = observed<SignIn>({ state: 'asking' });

const TOKEN_IN_ADDRESS = /^#token=(.+)$/;

/** A token in the address is taken out of it before anything else is done, and traded for the cookie. */
export async function startSession(): Promise<void> {
  // An address with a token that is opened where the page is open already only changes the fragment.
  addEventListener('hashchange', () => void takeTokenOfAddress());
  document.addEventListener('visibilitychange', () => void askWhetherAnother());
  // Of two windows side by side, both are visible.
  addEventListener('focus', () => void askWhetherAnother());
  if (!(await takeTokenOfAddress())) await askWhoIsIn();
}

async function takeTokenOfAddress(): Promise<boolean> {
  const [, token] = TOKEN_IN_ADDRESS.exec(location.hash) ?? [];
  if (token === undefined) return false;
  history.replaceState(null, '', location.pathname);
  await giveToken(token);
  return true;
}

export async function giveToken(token: string): Promise<void> {
  try {
    await call<void>('POST', '/session', { body: { token } });
    await askWhoIsIn();
  } catch (error) {
    if (error instanceof SignedOutError)
      return void out('The API refused the token: it does not trust the issuer, or the token has expired.');
    if (!(error instanceof ProblemError)) return signIn.set({ state: 'away' });
    const isUnknown = error.problem.status === 404;
    signIn.set({
      state: 'out',
      takesToken: !isUnknown,
      why: isUnknown ? 'This server does not accept a token from the page.' : `${error.problem.detail}.`,
    });
  }
}

export async function askWhoIsIn(): Promise<void> {
  try {
    enter(await get<Session>('/v1/session'));
  } catch (error) {
    if (error instanceof SignedOutError) return out();
    if (error instanceof ProblemError && error.problem.status === 403) {
      return out('You are signed in, but may not see what needs a person: the token lacks `holds:read`.');
    }
    signIn.set({ state: 'away' });
  }
}

/** Where a proxy signs people in, elsewhere or in another tab: once they are back, the page goes on with what it had. */
export async function askWhetherBack(): Promise<void> {
  const session = await get<Session>('/v1/session').catch(() => undefined);
  if (session && signIn.get().state === 'out') enter(session);
}

/** Another person may have signed in in another tab: then the API takes what this tab sends in that name. */
async function askWhetherAnother(): Promise<void> {
  if (document.hidden || signIn.get().state !== 'in') return;
  const session = await get<Session>('/v1/session').catch(() => undefined);
  if (session && signIn.get().state === 'in' && session.by !== lastBy) enter(session);
}

/** Who acted last: what was typed in one name is never shown to another. */
let lastBy: string | undefined;

function enter(session: Session): void {
  if (lastBy !== undefined && lastBy !== session.by) forget();
  lastBy = session.by;
  signIn.set({ state: 'in', session });
}

export async function signOut(): Promise<void> {
  await call<void>('DELETE', '/session').catch(() => {});
  forget();
  await out('You have signed out.');
}

/** An answer said so. */
export function signedOut(): void {
  if (signIn.get().state === 'in') void out('Your session has ended.');
}

async function out(why?: string): Promise<void> {
  signIn.set({ state: 'out', takesToken: await takesToken(), ...(why ? { why } : {}) });
}

/** Only a server that lets the page sign in knows the address; an empty request signs nobody in. */
async function takesToken(): Promise<boolean> {
  try {
    await call<void>('POST', '/session', { body: {} });
    return false;
  } catch (error) {
    return error instanceof ProblemError && [400, 422].includes(error.problem.status);
  }
}

export function may(session: Session, scope: string): boolean {
  return session.scopes.includes(scope);
}
