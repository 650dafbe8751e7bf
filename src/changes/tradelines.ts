/** Compares the tradelines of two reports: the same, new and vanished ones, and the changes of each. */

import { isRecord } from '../base/is-record.ts';
import type { ChangeOptions } from '../fields/change-options.ts';
import { comparable, type Figure, figureOrNull, inOrder, moveBetween, readFigure, readText } from './figures.ts';
import type { StatusMove, Tradeline, TradelineChange } from './report-changes.ts';

/** One entry of `consumer.accounts[]`, parsed. */
export interface ReadTradeline {
  /** Contributor, masked account number and opening date: two tradelines with the same key are the same. */
  key: string;
  /** Everything that is compared. Equal contents mean no change. */
  content: string;
  /** Orders tradelines with one key. Two have the same rank only if they are identical. */
  rank: string;
  told: Omit<Tradeline, 'tied'>;
  balance: Figure;
  creditLimit: Figure;
  isStatusReadable: boolean;
  /** The entry as it came. */
  raw: Record<string, unknown>;
}

export function readTradeline(raw: Record<string, unknown>, { closedStatusCodes }: ChangeOptions): ReadTradeline {
  const balance = readFigure(raw.balance);
  const creditLimit = readFigure(raw.creditLimit);
  const statusCode = readText(raw.statusCode);
  const told: ReadTradeline['told'] = {
    contributor: readText(raw.contributor),
    accountNumber: readText(raw.accountNumber),
    type: readText(raw.type),
    opened: readText(raw.opened),
    balance: figureOrNull(balance),
    creditLimit: figureOrNull(creditLimit),
    statusCode,
    closed: statusCode !== null && closedStatusCodes.includes(statusCode),
  };
  const reference = isRecord(raw.accountCrossReference) ? raw.accountCrossReference : {};
  const references = Object.entries(reference).sort(([a], [b]) => inOrder(a, b));
  return {
    key: JSON.stringify([comparable(raw.contributor), comparable(raw.accountNumber), told.opened]),
    content: JSON.stringify([
      told.type,
      balance === 'unreadable' ? [] : told.balance,
      creditLimit === 'unreadable' ? [] : told.creditLimit,
      statusCode,
    ]),
    rank: JSON.stringify([told, references]),
    told,
    balance,
    creditLimit,
    // `readText` returns no text for a missing or an empty one.
    isStatusReadable: statusCode !== null || (raw.statusCode ?? null) === null || typeof raw.statusCode === 'string',
    raw,
  };
}

export interface PairedTradelines {
  pairs: { earlier: ReadTradeline; later: ReadTradeline; tied: boolean }[];
  onlyEarlier: { account: ReadTradeline; tied: boolean }[];
  onlyLater: { account: ReadTradeline; tied: boolean }[];
}

/**
 * Pairs tradelines by key. Among several with one key, those with equal content are paired first. The others are sorted
 * (type, balance, limit, status) and paired in that order; the rest of the longer side stays without a counterpart. The
 * rule is symmetric, and the reports' own order does not matter.
 */
export function pairTradelines(earlier: readonly ReadTradeline[], later: readonly ReadTradeline[]): PairedTradelines {
  const before = Map.groupBy(earlier, ({ key }) => key);
  const after = Map.groupBy(later, ({ key }) => key);
  const paired: PairedTradelines = { pairs: [], onlyEarlier: [], onlyLater: [] };
  for (const key of [...new Set([...before.keys(), ...after.keys()])].sort(inOrder)) {
    const ones = before.get(key) ?? [];
    const others = after.get(key) ?? [];
    const tied = ones.length > 1 || others.length > 1;
    const alike = pairAlike(ones.sort(inRank), others.sort(inRank));
    const inTurn = Math.min(alike.ones.length, alike.others.length);
    for (const pair of alike.pairs) paired.pairs.push({ ...pair, tied });
    for (const [index, tradeline] of alike.ones.entries()) {
      const other = alike.others[index];
      if (other) paired.pairs.push({ earlier: tradeline, later: other, tied });
      else paired.onlyEarlier.push({ account: tradeline, tied });
    }
    for (const account of alike.others.slice(inTurn)) paired.onlyLater.push({ account, tied });
  }
  return paired;
}

/** Pairs entries with equal content. The rest keeps its order. */
function pairAlike(ones: readonly ReadTradeline[], others: readonly ReadTradeline[]) {
  const waiting = Map.groupBy(others, ({ content }) => content);
  const taken = new Set<ReadTradeline>();
  const pairs: { earlier: ReadTradeline; later: ReadTradeline }[] = [];
  const left: ReadTradeline[] = [];
  const turns = new Map<string, number>();
  for (const tradeline of ones) {
    const turn = turns.get(tradeline.content) ?? 0;
    const other = waiting.get(tradeline.content)?.[turn];
    turns.set(tradeline.content, turn + 1);
    if (!other) left.push(tradeline);
    else {
      taken.add(other);
      pairs.push({ earlier: tradeline, later: other });
    }
  }
  return { pairs, ones: left, others: others.filter((other) => !taken.has(other)) };
}

function inRank(a: ReadTradeline, b: ReadTradeline): number {
  return (
    inOrder(a.told.type ?? '', b.told.type ?? '') ||
    figureOrder(a.balance, b.balance) ||
    figureOrder(a.creditLimit, b.creditLimit) ||
    inOrder(a.rank, b.rank)
  );
}

function figureOrder(a: Figure, b: Figure): number {
  if (a !== null && a !== 'unreadable' && b !== null && b !== 'unreadable') return a.cmp(b);
  const place = (figure: Figure) => (figure === null ? 0 : figure === 'unreadable' ? 1 : 2);
  return place(a) - place(b);
}

/** The change of one tradeline; `undefined` if nothing changed beyond the thresholds. */
export function findChange(
  { earlier, later, tied }: PairedTradelines['pairs'][number],
  options: ChangeOptions,
): TradelineChange | undefined {
  const status = statusMove(earlier, later);
  const balance = moveBetween(earlier.balance, later.balance, options.balance);
  const creditLimit = moveBetween(earlier.creditLimit, later.creditLimit, options.creditLimit);
  if (!status && !balance && !creditLimit) return undefined;
  return {
    earlier: { ...earlier.told, tied },
    later: { ...later.told, tied },
    ...(status && { status }),
    ...(balance && { balance }),
    ...(creditLimit && { creditLimit }),
  };
}

function statusMove(earlier: ReadTradeline, later: ReadTradeline): StatusMove | undefined {
  if (!earlier.isStatusReadable || !later.isStatusReadable) return undefined;
  const from = earlier.told.statusCode;
  const to = later.told.statusCode;
  if (from === to) return undefined;
  if (from === null || to === null || earlier.told.closed === later.told.closed) return { change: 'changed', from, to };
  return { change: later.told.closed ? 'closed' : 'reopened', from, to };
}
