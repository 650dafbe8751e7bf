/** Scopes of tokens, each with what it permits (docs/http-api.md). */

export const SCOPES = {
  'journeys:start': 'Start journeys',
  'journeys:read': 'Read status, result and list of journeys',
  'journeys:advance': 'Pass gates, repeat stages, extend waits at gates',
  'journeys:withdraw': 'End journeys early',
  'consents:record': 'Say what consumers have decided about shares; reads nothing',
  'shares:request': 'Ask for shares, and extend their waits',
  'shares:withdraw': 'Take shares back',
  'shares:read': 'Read status, result and list of shares by themselves',
  'pulls:start': 'Start single pulls',
  'pulls:read': 'Read status, result and list of pulls',
  'pulls:withdraw': 'End pulls early',
  'portfolios:start': 'Start portfolio reviews',
  'portfolios:read': 'Read status, result and list of portfolio reviews',
  'portfolios:control': 'Pause, resume and end portfolio reviews',
  'holds:read': 'List what waits for a person',
  'holds:decide': 'Decide about inquiries on hold',
  'inquiries:read': 'Read what was sent, for whom and under which purpose',
  'inquiries:pause': 'Stop and resume the sending of inquiries, of whole profiles',
  'inquiries:keep': 'Set and release legal holds',
  'reports:read': 'Read reports and references, masked',
  'reports:reveal': 'Read reports and references whole',
} as const;

export type Scope = keyof typeof SCOPES;

export function isScope(word: string): word is Scope {
  return Object.hasOwn(SCOPES, word);
}
