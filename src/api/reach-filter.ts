/** A caller's reach as part of a question to Temporal's visibility, as far as search attributes tell whose a run is. */
import { RUN_KINDS, workflowTypesFilter } from '../model/run-key.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import type { ApiCaller, Reach } from './caller.ts';

/** Longer lists would make the question longer than servers take. Then each run is asked whose it is. */
const MOST_NAMES = 100;

/** Names that need no escape in a list filter. */
const PLAIN_NAME = /^[\p{L}\p{N} ._:&,-]{1,200}$/u;

/**
 * Conditions that leave out runs of which a search attribute says that they are out of reach. What passes must still be
 * judged: a run of two end users, one whose first activity has not ended, and a share, which names its secondary user there.
 */
export function reachFilter(
  { profiles, endUsers }: Pick<ApiCaller, 'profiles' | 'endUsers'>,
  registered: readonly SearchAttributeName[],
): string[] {
  const condition = (name: SearchAttributeName, reach: Reach, others: string[] = []) => {
    if (reach === '*' || !registered.includes(name)) return [];
    const names = [...reach];
    if (names.length > MOST_NAMES || !names.every((text) => PLAIN_NAME.test(text))) return [];
    const isOurs = names.length === 0 ? [] : [`${name} IN (${names.map((text) => `'${text}'`).join(', ')})`];
    return [`(${[`${name} IS NULL`, ...isOurs, ...others].join(' OR ')})`];
  };
  return [
    ...condition('GatewayProfile', profiles),
    ...condition('EndUserCodes', endUsers, [workflowTypesFilter(RUN_KINDS.share)]),
  ];
}
