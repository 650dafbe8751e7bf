/** What has happened to a run, by the ledger's records, in its words. Nothing personal is in them. */

import { defined } from '../../base/defined.ts';
import { scopeWords } from '../../ledger/pauses.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { AuditedDisposal } from '../../ledger/record-audit.ts';
import type { WorkEnd, WorkRow } from '../../ledger/work.ts';
import { ownerIdOf, ownerOf } from '../../model/owner-id.ts';
import {
  describeAttempt,
  describeConsent,
  describeDecision,
  describeDisposal,
  describeLateAnswer,
  describeShareWithdrawal,
  type ListedRecord,
  type RecordLine,
  workEndWords,
  workWords,
} from '../../words/records.ts';
import { capitalize } from '../../words/writer.ts';

type LedgerWork = (WorkRow & { closed?: WorkEnd })[];

export interface LedgerStory {
  /** The oldest first. */
  lines: RecordLine[];
  /** Otherwise there is more of a kind than is told. */
  isWhole: boolean;
  /** What needs a person now. */
  open: WorkRow[];
  /** In force, of a profile of the run. */
  pauses: { since: string; text: string }[];
}

/** Of each kind of record. A journey has some dozens at most; consents may come without end. */
const MOST_OF_A_KIND = 500;

const MOST_OPEN = 100;

/** What happened to a review's rows is told of the rows: there may be a hundred thousand. */
export async function ledgerStory(ledger: Ledger, ownerId: string): Promise<LedgerStory> {
  const query = { ownerId };
  const { kind, accountId } = ownerOf(ownerId);
  const isReview = kind === 'portfolio' && accountId === undefined;
  const [{ rows: open, next }, past, attempts, decisions, consents, withdrawals, disposals, pauses] = await Promise.all(
    [
      ledger.work.open({ ownerId, limit: MOST_OPEN }),
      isReview ? [] : ledger.work.of(ownerId),
      isReview ? [] : some(ledger.inquiriesBetween(query)),
      some(ledger.decisionsBetween(query)),
      some(ledger.consentsBetween(query)),
      some(ledger.withdrawnSharesBetween(query)),
      retentionStory(ledger, ownerId),
      ledger.pauses.list(),
    ],
  );
  const work: LedgerWork = isReview ? open : past;
  const profiles = new Set([...attempts.map(({ profile }) => profile), ...work.map((row) => row.gatewayProfile)]);
  const stopping = pauses.filter(({ profile }) => profile === undefined || profiles.has(profile));
  const lines: RecordLine[] = [
    ...attempts.flatMap((one) => [toLine(describeAttempt(one)), describeLateAnswer(one) ?? []].flat()),
    ...decisions.map(describeDecision).map(toLine),
    ...consents.map(describeConsent).map(toLine),
    ...withdrawals.map(describeShareWithdrawal).map(toLine),
    ...disposals.map(describeDisposal).map(toLine),
    ...work.slice(-MOST_OF_A_KIND).flatMap(workLines),
  ];
  const first = lines.reduce((least, { at }) => (at < least ? at : least), lines[0]?.at ?? '');
  for (const pause of lines.length === 0 ? [] : stopping) {
    if (pause.ended !== undefined && pause.ended.at < first) continue;
    const { since, by, reason, ended } = pause;
    lines.push({ at: since, text: `${capitalize(scopeWords(pause))} were paused.`, by, reason });
    if (!ended) continue;
    lines.push({
      at: ended.at,
      text: `${capitalize(scopeWords(pause))} were resumed.`,
      by: ended.by,
      reason: ended.reason,
    });
  }
  return {
    lines: lines.toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0)),
    isWhole:
      [attempts, decisions, consents, withdrawals, disposals, work].every((of) => of.length < MOST_OF_A_KIND) &&
      next === undefined,
    open,
    pauses: stopping
      .filter(({ ended }) => !ended)
      .map((pause) => ({ since: pause.since, text: `${capitalize(scopeWords(pause))} are paused: ${pause.reason}` })),
  };
}

/** Reads disposals and legal holds of the run; those of a review are about each of its rows. */
async function retentionStory(ledger: Ledger, ownerId: string): Promise<AuditedDisposal[]> {
  const { kind, id, accountId } = ownerOf(ownerId);
  const owners = accountId === undefined ? [ownerId] : [ownerId, ownerIdOf(kind, id)];
  const found = await Promise.all(owners.map((owner) => some(ledger.disposalsBetween({ ownerId: owner }))));
  return found.flat();
}

function toLine({ ownerId: _, facts: __, ...line }: ListedRecord): RecordLine {
  return line;
}

function workLines(row: LedgerWork[number]): RecordLine[] {
  const { closed } = row;
  const end = closed && workEndWords(row, closed);
  return [
    { at: row.since, text: workWords(row), ...namedIn(row) },
    ...(closed && end !== undefined ? [{ at: closed.at, text: end, ...namedIn(row) }] : []),
  ];
}

function namedIn({ customerTraceNumber, attempt }: Pick<RecordLine, 'customerTraceNumber' | 'attempt'>) {
  return defined({ customerTraceNumber, attempt });
}

async function some<T>(records: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of records) {
    found.push(one);
    if (found.length === MOST_OF_A_KIND) break;
  }
  return found;
}
