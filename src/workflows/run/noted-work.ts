/**
 * Notes those operator tasks in the ledger that no transaction of the ledger has caused. It works in the background, so
 * that no hold waits for it. Each note has the changes since the last one. A run without tasks begins nothing.
 */
import {
  ActivityFailure,
  CancellationScope,
  condition,
  isCancellation,
  log,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { InquiryFailure } from '../../activities/contract.ts';
import { defined } from '../../base/defined.ts';
import type { WorkKey, WorkNote, WorkToNote } from '../../ledger/holds/work.ts';
import type { HoldStatus } from '../../messages/journey/shapes.ts';
import { FAILURES, MAY_BE_POSTED } from '../../model/failure-types.ts';
import { type InquiryDescription, isKnownNotPosted, LASTING_FLAGS } from '../../model/inquiry.ts';
import { runKeyFromWorkflowId } from '../../model/run-key.ts';
import { noteWork, waitToTryAgain } from './activity-stubs.ts';
import { inBackground } from './around-the-sdk.ts';
import { applicationFailureOf } from './failures.ts';

/** Limits one note: a review may have some hundreds of holds. */
const MOST_AT_ONCE = 50;

/** An operator task. Without `since` it begins with the note. */
export type NeededWork = Omit<WorkToNote, 'since'> & { since?: string };

/** Operator tasks that the ledger has, or may have, for the next run. */
export type CarriedNotes = readonly ToldWork[];

interface ToldWork {
  work: WorkToNote;
  /** The note was on its way when the run handed over: it is sent again, or taken back. */
  isUnsure?: true;
}

/** Notes that `tellLedger` sends after the run. */
export interface LeftNotes {
  ledgerId: string;
  /** In their order. Each is small, so that one which the ledger refuses keeps no other back. */
  notes: readonly WorkNote[];
}

export class NotedWork {
  readonly #needed: () => readonly NeededWork[];
  readonly #told: Map<string, ToldWork>;
  /** Holds that the ledger would show for good: they ended with their run, and without a decision. */
  readonly #left: WorkKey[] = [];
  /** Tasks that the ledger did not take for an hour. Each is noted again after all others, and by itself. */
  readonly #refused = new Set<string>();
  #isOver = false;
  /** A note is on its way. */
  #isTelling = false;
  #isAtWork = false;
  #ledgerId: string | undefined;
  /** The run was reset: the ledger may have what this run has forgotten. */
  #wasReset = false;
  /** The ledger does not know yet of the reset, or of the end of a run that was reset. */
  #tellsReset = false;

  /** @param needed the present operator tasks, as the run's status says */
  constructor(needed: () => readonly NeededWork[], past: CarriedNotes = []) {
    this.#needed = needed;
    this.#told = new Map(past.map((told) => [nameOf(told.work), told]));
  }

  begin({ ledgerId }: { ledgerId: string }): void {
    this.#ledgerId = ledgerId;
    this.look();
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

  /** After a reset, the ledger ends the tasks of the run's earlier notes and gets the present ones again. */
  startAnew(): void {
    for (const [name, { work }] of this.#told) if (!isLasting(work)) this.#told.delete(name);
    this.#wasReset = true;
    this.#tellsReset = true;
    this.look();
  }

  /** Called whenever the operator tasks may have changed. */
  look(): void {
    if (this.#isAtWork || this.#isQuiet) return;
    this.#isAtWork = true;
    inBackground(async () => CancellationScope.nonCancellable(() => this.#tell()));
  }

  /** The run has ended: nothing waits any more. Resolves once the ledger has that, or another run is to tell it. */
  async finish(): Promise<void> {
    this.#isOver = true;
    this.#tellsReset ||= this.#wasReset;
    if (this.#isQuiet) return;
    this.look();
    await CancellationScope.nonCancellable(() => condition(() => this.#isQuiet));
  }

  get #isQuiet(): boolean {
    if (this.#ledgerId === undefined) return true;
    if (this.#isTelling || this.#tellsReset) return false;
    const { opened, ended } = this.#news();
    return opened.length === 0 && ended.length === 0;
  }

  async #tell(): Promise<void> {
    await restOfTask();
    for (let failures = 0; !this.#isQuiet; ) {
      if (await this.#send(this.#nextNote())) failures = 0;
      else if (this.#isOver) await this.#handOn();
      else await waitToTryAgain('noteWork', failures++);
    }
    this.#isAtWork = false;
  }

  #nextNote(): WorkNote {
    const asOf = new Date().toISOString();
    const { opened, ended } = this.#news();
    const [first] = [...opened, ...ended];
    const atOnce = first && this.#refused.has(nameOf(first)) ? 1 : MOST_AT_ONCE;
    const now = opened.filter((work) => atOnce === 1 || !this.#refused.has(nameOf(work))).slice(0, atOnce);
    const over = ended.filter((work) => atOnce === 1 || !this.#refused.has(nameOf(work)));
    return {
      asOf,
      opened: now.map((work) => ({ ...work, since: work.since ?? asOf })),
      ended: (atOnce === 1 && now.length > 0 ? [] : over.slice(0, atOnce)).map(keyOf),
      ...(this.#isOver ? { isLast: true } : {}),
      ...(this.#tellsReset ? { resetOf: runKeyFromWorkflowId(workflowInfo().workflowId) ?? '' } : {}),
    };
  }

  /** @returns whether the ledger has taken the note */
  async #send(note: WorkNote): Promise<boolean> {
    for (const work of note.opened) this.#told.set(nameOf(work), { work, isUnsure: true });
    const tellsReset = this.#tellsReset;
    this.#tellsReset = false;
    this.#isTelling = true;
    try {
      const summary = 'telling the ledger what needs a person';
      await noteWork.executeWithOptions({ summary }, [{ ledgerId: this.#ledgerId ?? '', note }]);
      this.#taken(note);
      return true;
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      if (applicationFailureOf(error)?.type === 'LedgerChanged') {
        // The run writes nothing into another ledger.
        this.#ledgerId = undefined;
        return true;
      }
      this.#tellsReset ||= tellsReset;
      for (const key of [...note.opened, ...note.ended]) this.#refused.add(nameOf(key));
      return false;
    } finally {
      this.#isTelling = false;
    }
  }

  #taken({ opened, ended }: WorkNote): void {
    // A reset, or a decision, may have come meanwhile.
    for (const work of opened) if (this.#told.has(nameOf(work))) this.#told.set(nameOf(work), { work });
    const names = new Set(ended.map(nameOf));
    for (const name of names) this.#told.delete(name);
    this.#left.splice(0, this.#left.length, ...this.#left.filter((key) => !names.has(nameOf(key))));
    for (const key of [...opened, ...ended]) this.#refused.delete(nameOf(key));
  }

  /** A run never waits for a note alone: another one tells the ledger, for as long as that takes. */
  async #handOn(): Promise<void> {
    const ledgerId = this.#ledgerId ?? '';
    const whole = { ...this.#nextNote(), ...this.#news() };
    const { asOf, opened, ended, ...rest } = whole;
    const notes: WorkNote[] = [
      ...(rest.resetOf === undefined ? [] : [{ ...rest, asOf, opened: [], ended: [] }]),
      ...ended.map((key) => ({ asOf, opened: [], ended: [keyOf(key)], isLast: true as const })),
      ...opened.map((work) => ({ asOf, opened: [{ ...work, since: work.since ?? asOf }], ended: [] })),
    ];
    log.warn('the ledger does not take what this run has left: tellLedger goes on', { notes: notes.length });
    const { workflowId, runId } = workflowInfo();
    await startChild('tellLedger', {
      workflowId: `work-${workflowId}-${runId}`,
      args: [{ ledgerId, notes } satisfies LeftNotes],
      parentClosePolicy: ParentClosePolicy.ABANDON,
    });
    this.#ledgerId = undefined;
  }

  #news(): { opened: NeededWork[]; ended: WorkKey[] } {
    const wanted = this.#needed().filter((work) => !this.#isOver || isLasting(work));
    const needed = new Map(wanted.map((work) => [nameOf(work), work]));
    const opened = [...needed.values()].filter((work) => {
      const told = this.#told.get(nameOf(work));
      return !told || (told.isUnsure && !this.#isTelling) || !isSame(told.work, work);
    });
    const told = [...this.#told.values()].map(({ work }) => work);
    const over = told.filter((work) => !needed.has(nameOf(work)) && !isLasting(work));
    const left = this.#left.filter((key) => !this.#told.has(nameOf(key)));
    return { opened: this.#refusedLast(opened), ended: this.#refusedLast([...over, ...left]) };
  }

  #refusedLast<T extends WorkKey>(keys: T[]): T[] {
    if (this.#refused.size === 0) return keys;
    const isRefused = (key: T) => this.#refused.has(nameOf(key));
    return [...keys.filter((key) => !isRefused(key)), ...keys.filter(isRefused)];
  }
}

/** Resolves when the rest of this task has settled, so that one note has all of it. */
async function restOfTask(): Promise<void> {
  let isNext = false;
  const rest = condition(() => isNext);
  isNext = true;
  await rest;
}

function isLasting({ kind, reason }: WorkKey): boolean {
  return kind === 'flagged' && LASTING_FLAGS.includes(reason);
}

/** An inquiry has one hold, with any reason. */
function nameOf({ runKey, kind, reason, customerTraceNumber = '' }: WorkKey): string {
  return kind === 'held' ? customerTraceNumber : `${runKey} ${reason} ${customerTraceNumber}`;
}

function keyOf({ runKey, kind, reason, customerTraceNumber }: WorkKey): WorkKey {
  return { runKey, kind, reason, ...(customerTraceNumber === undefined ? {} : { customerTraceNumber }) };
}

function isSame(told: WorkToNote, { reason, attempt, since }: NeededWork): boolean {
  return told.reason === reason && told.attempt === attempt && (since === undefined || told.since === since);
}

/** Whether the outcome that holds is in the ledger, whose transaction has written the operator task. */
export function isKnownToLedger({ claimed, failureType }: InquiryFailure): boolean {
  const state = claimed ? FAILURES[failureType].state : null;
  return state !== null && !isKnownNotPosted(state);
}

/** Describes a hold as an operator task. */
export function workOf(status: HoldStatus, inquiry: InquiryDescription): NeededWork {
  const { customerTraceNumber, productCode, failureType, since, attempts, shareId, endUserCode, endUser } = status;
  const { applicantIds, httpStatus, returnCode, returnReasonCode, otherTraceNumber } = status;
  const { resendFrom, problems } = status;
  const answer = { applicantIds, httpStatus, returnCode, returnReasonCode };
  return {
    ...{ kind: 'held', reason: failureType, since, runKey: inquiry.runKey, customerTraceNumber, productCode },
    ...{ gatewayProfile: inquiry.profile, attempt: attempts, inquiry },
    ...defined({ shareId, endUserCode, endUser }),
    details: defined({ ...answer, otherTraceNumber, resendFrom, problems }),
  };
}
