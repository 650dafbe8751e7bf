/** Every message of every kind of run, and what the queries are for. */

import type { RunKind } from '../model/run-key.ts';
import { advance } from './advance.ts';
import { consent, consentToShare } from './consent.ts';
import { extend, extendShareReport } from './extend.ts';
import type { Message } from './message.ts';
import { requestShare } from './request-share.ts';
import { resolveInquiry, resolvePortfolio, resolvePull, resolveShareReport } from './resolve-inquiry.ts';
import { steerReview, withdrawJourney, withdrawPull, withdrawShare, withdrawShareReport } from './withdraw.ts';

export const MESSAGES = {
  advance,
  extend,
  requestShare,
  withdrawShare,
  consent,
  resolveInquiry,
  withdrawJourney,
  resolvePull,
  withdrawPull,
  extendShareReport,
  consentToShare,
  resolveShareReport,
  withdrawShareReport,
  resolvePortfolio,
  steerReview,
};

type Row = (typeof MESSAGES)[keyof typeof MESSAGES];

export type MessageTo<Kind extends RunKind, Update extends string> = Extract<
  Row,
  { to: Kind; updates: Readonly<Record<Update, string>> }
>;

type UpdatesOf<Definition> = Definition extends { updates: infer Updates } ? keyof Updates & string : never;

export type UpdateOf<Kind extends RunKind> = UpdatesOf<Extract<Row, { to: Kind }>>;

export function listUpdates(kind: RunKind): string[] {
  return Object.values<Message>(MESSAGES).flatMap(({ to, updates }) => (to === kind ? Object.keys(updates) : []));
}

export function findMessage(kind: RunKind, update: string): Message {
  const found = Object.values<Message>(MESSAGES).find(
    ({ to, updates }) => to === kind && Object.hasOwn(updates, update),
  );
  if (!found) throw new Error(`a ${kind} takes no update ${update}`);
  return found;
}

const REFERENCES = 'The references to store for later shares. No input. consumerId is personal.';

function describeStatus(name: string): string {
  return `The state of the ${name}, what it waits for, its holds and its refused messages. No input. Nothing personal.`;
}

/** The purpose of each query, and of each signal without content. The forms of the Temporal UI show it. */
export const QUERIES = {
  journey: { status: describeStatus('journey'), references: REFERENCES },
  pull: { status: describeStatus('pull'), references: REFERENCES },
  portfolio: { status: describeStatus('review') },
  share: {
    status: describeStatus('share'),
    references: 'The report that is shared, and the share’s own reference. No input. consumerId is personal.',
  },
} as const;

/** The purpose of the signal `lookUpConsents`, which callers do not send. */
export const LOOK_UP_CONSENTS =
  'Makes the run read its consents from the ledger. Activities that record consents, and ledger compare, send it. No input.';

export const WIRE_NAMES: readonly string[] = [
  'lookUpConsents',
  ...Object.values<Message>(MESSAGES).flatMap(({ updates, signals }) => Object.keys({ ...updates, ...signals })),
  ...Object.values(QUERIES).flatMap((queries) => Object.keys(queries)),
];
