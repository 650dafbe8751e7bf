/** Counts and sums of changes: the part of a comparison that a journey's result may hold. */

import type { ChangeCounts, ChangeSummary, ChangeTotals } from '../messages/journey/change-summary.ts';
import { FigureSum } from './figures.ts';
import type { ApplicantChanges, StatusChange } from './report-changes.ts';
import type { PairedTradelines, ReadTradeline } from './tradelines.ts';

type Sums = { balance: FigureSum; creditLimit: FigureSum };

export class SummaryBuilder {
  readonly #counts: ChangeCounts = {
    applicantsCompared: 0,
    applicantsJoined: 0,
    applicantsLeft: 0,
    newAccounts: 0,
    vanishedAccounts: 0,
    closedAccounts: 0,
    reopenedAccounts: 0,
    statusChanges: 0,
    balanceMoves: 0,
    creditLimitMoves: 0,
    newNames: 0,
    vanishedNames: 0,
    newAddresses: 0,
    vanishedAddresses: 0,
    unreadable: 0,
  };
  readonly #earlier = sums();
  readonly #later = sums();
  readonly #new = sums();
  readonly #vanished = sums();

  add(earlier: readonly ReadTradeline[], later: readonly ReadTradeline[], paired: PairedTradelines): void {
    addAll(this.#earlier, earlier);
    addAll(this.#later, later);
    addAll(
      this.#new,
      paired.onlyLater.map(({ account }) => account),
    );
    addAll(
      this.#vanished,
      paired.onlyEarlier.map(({ account }) => account),
    );
  }

  count(changes: ApplicantChanges): void {
    const counts = this.#counts;
    counts[PRESENCE[changes.presence]]++;
    for (const name of ['newAccounts', 'vanishedAccounts', 'newNames', 'vanishedNames'] as const) {
      counts[name] += changes[name].length;
    }
    for (const name of ['newAddresses', 'vanishedAddresses', 'unreadable'] as const) {
      counts[name] += changes[name].length;
    }
    for (const { status, balance, creditLimit } of changes.changedAccounts) {
      if (status) counts[STATUS[status.change]]++;
      if (balance) counts.balanceMoves++;
      if (creditLimit) counts.creditLimitMoves++;
    }
  }

  get summary(): ChangeSummary {
    const [earlier, later] = [this.#earlier, this.#later];
    const totals: ChangeTotals = {
      balance: { earlier: earlier.balance.text, later: later.balance.text },
      creditLimit: { earlier: earlier.creditLimit.text, later: later.creditLimit.text },
      newAccounts: textOf(this.#new),
      vanishedAccounts: textOf(this.#vanished),
    };
    return { counts: { ...this.#counts }, totals };
  }
}

const PRESENCE: Record<ApplicantChanges['presence'], keyof ChangeCounts> = {
  both: 'applicantsCompared',
  joined: 'applicantsJoined',
  left: 'applicantsLeft',
};

const STATUS: Record<StatusChange, keyof ChangeCounts> = {
  closed: 'closedAccounts',
  reopened: 'reopenedAccounts',
  changed: 'statusChanges',
};

function sums(): Sums {
  return { balance: new FigureSum(), creditLimit: new FigureSum() };
}

function addAll({ balance, creditLimit }: Sums, accounts: readonly ReadTradeline[]): void {
  for (const account of accounts) {
    balance.add(account.balance);
    creditLimit.add(account.creditLimit);
  }
}

function textOf({ balance, creditLimit }: Sums): { balance: string; creditLimit: string } {
  return { balance: balance.text, creditLimit: creditLimit.text };
}
