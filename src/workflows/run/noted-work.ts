/**
 * Tells the ledger what needs a person and no transaction of the ledger has caused: in the background, so that no hold
 * waits for it. Each note has what has changed since the last one.
 */
import { CancellationScope, condition } from '@temporalio/workflow';
import type { InquiryFailure } from '../../activities/contract.ts';
import { defined } from '../../base/defined.ts';
import type { WorkKey, WorkNote, WorkToNote } from '../../ledger/work.ts';
import type { HoldStatus } from '../../messages/journey/shapes.ts';
import { MAY_BE_POSTED } from '../../model/failure-types.ts';
import { ATTEMPT_STATE_OF_FAILURE, type InquiryDescription, isKnownNotPosted } from '../../model/inquiry.ts';
import { untilDone } from './activity-stubs.ts';
import { applicationFailureOf } from './application-failure.ts';
import { inBackground } from './in-background.ts';

/** Of one note: a review may have some hundreds of holds. */
const MOST_AT_ONCE = 50;

/** What needs a person. Without `since` it needs one from the note on. */
export type NeededWork = Omit<WorkToNote, 'since'> & { since?: string };

/** What the next run takes over: what the ledger has, or may have, by the notes so far. */
export type CarriedNotes = readonly ToldWork[];

interface ToldWork {
  work: WorkToNote;
  /** The note was on its way when the run handed over: it is sent again, or taken back. */
  isUnsure?: true;
}

export class NotedWork {
  readonly #needed: () => readonly NeededWork[];
  readonly #told: Map<string, ToldWork>;
  /** Holds that the ledger would show for good: they ended with their run, and without a decision. */
  readonly #left: WorkKey[] = [];
  #isOver = false;
  #isTelling = false;
  #ledgerId: string | undefined;

  /** @param needed what needs a person now, as the run's status says */
  constructor(needed: () => readonly NeededWork[], past: CarriedNotes = []) {
    this.#needed = needed;
    this.#told = new Map(past.map((told) => [nameOf(told.work), told]));
  }

  begin({ ledgerId }: { ledgerId: string }): void {
    this.#ledgerId = ledgerId;
    inBackground(async () => CancellationScope.nonCancellable(() => this.#tell()));
  }

  get carried(): CarriedNotes {
    return [...this.#told.values()];
  }

  /** Whether the ledger has the row, so that a decision closes it in its own transaction. */
  has(key: WorkKey): boolean {
    const told = this.#told.get(nameOf(key));
    return told !== undefined && !told.isUnsure;
  }

  /** The ledger has closed the row by itself. */
  forget(key: WorkKey): void {
    this.#told.delete(nameOf(key));
  }

  /** A hold that the ledger knows by itself has ended with its run, and without a decision. */
  leave(key: WorkKey): void {
    if (!(MAY_BE_POSTED as readonly string[]).includes(key.reason)) this.#left.push(key);
  }

  /** The run has ended: nothing waits any more. Resolves once the ledger has that. */
  async finish(): Promise<void> {
    this.#isOver = true;
    if (this.#ledgerId === undefined || this.#isQuiet) return;
    await CancellationScope.nonCancellable(() => condition(() => this.#isQuiet));
  }

  get #isQuiet(): boolean {
    if (this.#ledgerId === undefined) return true;
    const { opened, ended } = this.#news();
    return !this.#isTelling && opened.length === 0 && ended.length === 0;
  }

  async #tell(): Promise<void> {
    while (this.#ledgerId !== undefined) {
      await condition(() => !this.#isQuiet);
      const asOf = new Date().toISOString();
      const { opened, ended } = this.#news();
      const note: WorkNote = {
        asOf,
        opened: opened.slice(0, MOST_AT_ONCE).map((work) => ({ ...work, since: work.since ?? asOf })),
        ended: ended.slice(0, MOST_AT_ONCE).map(keyOf),
        ...(this.#isOver ? { isLast: true } : {}),
      };
      for (const work of note.opened) this.#told.set(nameOf(work), { work, isUnsure: true });
      await this.#send(note);
    }
  }

  async #send(note: WorkNote): Promise<void> {
    const { opened, ended } = note;
    this.#isTelling = true;
    try {
      const summary = 'telling the ledger what needs a person';
      await untilDone('noteWork', { summary }, { ledgerId: this.#ledgerId ?? '', note });
      for (const work of opened) this.#told.set(nameOf(work), { work });
      for (const key of ended) this.#told.delete(nameOf(key));
      const names = new Set(ended.map(nameOf));
      this.#left.splice(0, this.#left.length, ...this.#left.filter((key) => !names.has(nameOf(key))));
    } catch (error) {
      if (applicationFailureOf(error)?.type !== 'LedgerChanged') throw error;
      // Nothing is written into a ledger that is not the run's.
      this.#ledgerId = undefined;
    } finally {
      this.#isTelling = false;
    }
  }

  #news(): { opened: NeededWork[]; ended: WorkKey[] } {
    const needed = new Map(this.#isOver ? [] : this.#needed().map((work) => [nameOf(work), work]));
    const opened = [...needed.values()].filter((work) => {
      const told = this.#told.get(nameOf(work));
      return !told || (told.isUnsure && !this.#isTelling) || !isSame(told.work, work);
    });
    const over = [...this.#told.values()].map(({ work }) => work).filter((work) => !needed.has(nameOf(work)));
    const left = this.#left.filter((key) => !this.#told.has(nameOf(key)));
    return { opened, ended: [...over, ...left] };
  }
}

/** One inquiry has one hold, whatever its reason. */
function nameOf({ ownerId, kind, reason, customerTraceNumber = '' }: WorkKey): string {
  return kind === 'held' ? customerTraceNumber : `${ownerId} ${reason} ${customerTraceNumber}`;
}

function keyOf({ ownerId, kind, reason, customerTraceNumber }: WorkKey): WorkKey {
  return { ownerId, kind, reason, ...(customerTraceNumber === undefined ? {} : { customerTraceNumber }) };
}

function isSame(told: WorkToNote, { reason, attempt, since }: NeededWork): boolean {
  return told.reason === reason && told.attempt === attempt && (since === undefined || told.since === since);
}

/** The outcome that holds stands in the ledger, whose transaction has written what needs a person. */
export function isKnownToLedger({ claimed, failureType }: InquiryFailure): boolean {
  const state = claimed ? ATTEMPT_STATE_OF_FAILURE[failureType] : null;
  return state !== null && !isKnownNotPosted(state);
}

/** A hold, as the ledger is told of it. */
export function workOf(status: HoldStatus, inquiry: InquiryDescription): NeededWork {
  const { customerTraceNumber, productCode, failureType, since, attempts, shareId, endUserCode, endUser } = status;
  const { applicantIds, httpStatus, returnCode, returnReasonCode, otherTraceNumber } = status;
  const { profileChange, resendFrom, problems } = status;
  const answer = { applicantIds, httpStatus, returnCode, returnReasonCode };
  return {
    ...{ kind: 'held', reason: failureType, since, ownerId: inquiry.ownerId, customerTraceNumber, productCode },
    ...{ gatewayProfile: inquiry.profile, attempt: attempts, inquiry },
    ...defined({ shareId, endUserCode, endUser }),
    details: defined({ ...answer, otherTraceNumber, profileChange, resendFrom, problems }),
  };
}
