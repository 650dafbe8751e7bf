/** Where the reader is: the fragment of the address, so that the server has one page. */
import { observed } from './observed.ts';

export interface Filters {
  kind?: string;
  failureType?: string;
  profile?: string;
  endUserCode?: string;
}

export type Route =
  | { view: 'queue'; filters: Filters }
  | { view: 'run'; runKey: string; holdId?: string; action?: string }
  | { view: 'together' }
  | { view: 'search'; q: string };

const FILTERS = ['kind', 'failureType', 'profile', 'endUserCode'] as const;

/** What is no address of the page is the queue. */
export function routeOf(fragment: string): Route {
  const [path = '', query = ''] = fragment.replace(/^#/, '').split('?');
  const given = new URLSearchParams(query);
  const [, view, id] = path.split('/');
  if (view === 'runs' && id) {
    const [holdId, action] = [given.get('hold'), given.get('action')];
    return { view: 'run', runKey: decoded(id), ...(holdId ? { holdId } : {}), ...(action ? { action } : {}) };
  }
  if (view === 'together') return { view: 'together' };
  if (view === 'search') return { view: 'search', q: given.get('q') ?? '' };
  const filters: Filters = {};
  for (const name of FILTERS) {
    const value = given.get(name);
    if (value) filters[name] = value;
  }
  return { view: 'queue', filters };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function queueAddress(filters: Filters = {}): string {
  return withFragmentQuery(
    '#/holds',
    FILTERS.map((name) => [name, filters[name]] as const),
  );
}

export function runAddress(runKey: string, hold: { holdId?: string; action?: string } = {}): string {
  return withFragmentQuery(`#/runs/${encodeURIComponent(runKey)}`, [
    ['hold', hold.holdId],
    ['action', hold.action],
  ]);
}

export function searchAddress(q: string): string {
  return withFragmentQuery('#/search', [['q', q]]);
}

function withFragmentQuery(path: string, pairs: readonly (readonly [string, string | undefined])[]): string {
  const given = pairs.filter((pair): pair is readonly [string, string] => Boolean(pair[1]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given.map(([name, value]) => [name, value]))}`;
}

export const route = observed<Route>({ view: 'queue', filters: {} });

export function followAddress(): void {
  const follow = () => route.set(routeOf(location.hash));
  addEventListener('hashchange', follow);
  follow();
}

export function goTo(address: string, { replace = false } = {}): void {
  if (!replace) {
    location.hash = address;
    return;
  }
  history.replaceState(null, '', address);
  route.set(routeOf(location.hash));
}
