/** The platform that starts and drives journeys, and the consent systems. They record each message before they send it. */

import { WorkflowUpdateFailedError } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { askRun, toUpdateId } from '../../src/client/connection/run-messages.ts';
import { startLateConsent } from '../../src/client/runs/consents.ts';
import { MESSAGES } from '../../src/messages/all-messages.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import type { ResolveInquiryMessage } from '../../src/messages/resolve-inquiry.ts';
import type { Applicant } from '../../src/model/applicant.ts';
import type { StageCode } from '../../src/model/products.ts';
import { ID_NAMES, parseRunKey, toWorkflowId } from '../../src/model/run-key.ts';
import type { JourneyHandle } from '../support/journey-harness.ts';
import { ApiCallers, ApiRefusal } from './api/callers.ts';
import { messageOf, startOf } from './api/operations.ts';
import type { ConsentSent, WithdrawalSent } from './evidence.ts';
import type { ApiAnswer, ForeignCall } from './evidence-api.ts';
import { aMomentAgo, consentOf, shareOf } from './journey-inputs.ts';
import type { ConsentPlan, JourneyPlan, SharePlan } from './plan.ts';
import type { World } from './world.ts';

/** One call of theirs; a server that is being restarted is waited for. */
const CALL_LIMIT_MS = 8_000;
/** A query waits for a worker; there may be none for the moment. */
const QUERY_LIMIT_MS = 4_000;

/** Longer than any wait of the plans. */
const EXTENDED_BY_MS = 90 * 86_400_000;

/** The messages that were sent, each with its time by the machine's clock. */
export interface Books {
  consents: ConsentSent[];
  withdrawals: WithdrawalSent[];
  decisions: { atMs: number; message: ResolveInquiryMessage }[];
  /** By journey: applicants that an amendment named. */
  amended: Map<string, Applicant[][]>;
  cancelled: Set<string>;
  /** Runs whose start was answered, by their run keys. */
  started: Set<string>;
  /** The calls that the API has answered with 2xx. */
  answers: ApiAnswer[];
  foreign: ForeignCall[];
}

/** Tells whether a run or the API has refused the message in its present state. */
export function isRefusal(error: unknown): boolean {
  return error instanceof WorkflowUpdateFailedError || (error instanceof ApiRefusal && error.isFinal);
}

export class People {
  readonly world: World;
  readonly books: Books;
  readonly #api: ApiCallers;
  /** A consent that is sent again is the same message. */
  readonly #messages = new Map<ConsentPlan, ConsentMessage>();
  /** The messages to send once all faults have ended, by share and applicant. */
  readonly #lastConsents = new Map<string, { nth: number; message: ConsentMessage; isAnswered: boolean }>();

  constructor(world: World) {
    this.world = world;
    this.#api = new ApiCallers(world);
    this.books = {
      ...{ consents: [], withdrawals: [], decisions: [], amended: new Map(), cancelled: new Set(), started: new Set() },
      ...{ answers: this.#api.answers, foreign: [] },
    };
  }

  handle(journeyId: string): JourneyHandle {
    return this.world.client.workflow.getHandle(toWorkflowId(journeyId)) as JourneyHandle;
  }

  /** Starts a run as the typed client does. An open or completed run is left unchanged. */
  async start(runKey: string, workflowType: string, input: object): Promise<void> {
    const { client, taskQueue } = this.world;
    if (this.#api.takes(runKey, 'start')) await this.#api.send(startOf(runKey, input), 'start');
    else {
      await this.patiently(() =>
        client.workflow.start(workflowType, {
          workflowId: toWorkflowId(runKey),
          taskQueue,
          args: [input],
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          workflowIdConflictPolicy: 'USE_EXISTING',
        }),
      );
    }
    this.books.started.add(runKey);
  }

  status(journeyId: string): Promise<JourneyStatus> {
    return this.patiently(() => askRun<JourneyStatus>(this.handle(journeyId), 'status'), QUERY_LIMIT_MS);
  }

  async advance(journeyId: string, to: StageCode): Promise<void> {
    await this.update(journeyId, 'advance', { journeyId, to }, MESSAGES.advance.toKey('advance', { journeyId, to }));
  }

  async requestShare(journeyId: string, share: SharePlan): Promise<void> {
    const message = { journeyId, share: shareOf(share) };
    await this.update(journeyId, 'requestShare', message, MESSAGES.requestShare.toKey('requestShare', message));
  }

  /** Refused where its claim came first, or the journey knows no such share yet. */
  async withdrawShare(journeyId: string, shareId: string): Promise<void> {
    const message = { journeyId, shareId, by: 'platform', reason: 'another investor was meant' };
    const sent: WithdrawalSent = { runKey: journeyId, shareId, isAcknowledged: false };
    this.books.withdrawals.push(sent);
    const answer = await this.update(
      journeyId,
      'withdrawShare',
      message,
      MESSAGES.withdrawShare.toKey('withdrawShare', message),
    );
    sent.isAcknowledged = (answer as { recorded?: boolean }).recorded === true;
  }

  /** Refused where the share waits for nothing. */
  async extendWait(journeyId: string, shareId: string): Promise<void> {
    const until = new Date(Date.now() + EXTENDED_BY_MS).toISOString();
    const message = { journeyId, shareId, until, by: 'platform', reason: 'the consumer travels' };
    await this.update(journeyId, 'extend', message, MESSAGES.extend.toKey('extend', message));
  }

  async withdraw(journeyId: string): Promise<void> {
    const message = { journeyId, by: 'borrower', reason: 'bought elsewhere' };
    await this.update(journeyId, 'withdraw', message, 'withdraw');
  }

  async consent({ journeyId, shares }: JourneyPlan, plan: ConsentPlan): Promise<void> {
    const message = this.#messages.get(plan) ?? consentOf(journeyId, plan, shares, aMomentAgo());
    this.#messages.set(plan, message);
    for (let copy = 0; copy < plan.copies; copy++) await this.sendConsent(message, plan.by);
  }

  /** Sends a consent. For a closed run it starts the workflow for late consents, as the docs ask raw senders to do. */
  async sendConsent(message: ConsentMessage, by: ConsentPlan['by']): Promise<ConsentSent> {
    const { client, taskQueue } = this.world;
    const sent: ConsentSent = { atMs: Date.now(), message };
    this.books.consents.push(sent);
    const key = MESSAGES.consent.toKey('recordConsent', message);
    if (this.#api.takes(message.journeyId, key)) {
      // With an open run or without one.
      const answer = await this.#api.send(messageOf(message.journeyId, 'recordConsent', message), key);
      if (answer.recorded === true) sent.acknowledgedAtMs = Date.now();
      return sent;
    }
    try {
      if (by === 'signal') await this.patiently(() => this.handle(message.journeyId).signal('consent', message));
      else {
        const answer = await this.#updateRun(message.journeyId, 'recordConsent', message, key);
        if ((answer as { recorded?: boolean }).recorded === true) sent.acknowledgedAtMs = Date.now();
      }
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      await this.patiently(() => startLateConsent(client, taskQueue, message));
    }
    return sent;
  }

  /**
   * Sends what a share still waits for: the same message until it was acknowledged or refused, then a new one under the
   * next id. The share no longer counts the first where a reset has put another person in its applicant's place since.
   *
   * @param make of the nth message, from 1: the ids differ
   */
  async sendUntilItCounts(waiting: string, make: (nth: number) => ConsentMessage): Promise<void> {
    const before = this.#lastConsents.get(waiting);
    const nth = (before?.nth ?? 0) + 1;
    const last = before && !before.isAnswered ? before : { nth, message: make(nth), isAnswered: false };
    this.#lastConsents.set(waiting, last);
    try {
      last.isAnswered = (await this.sendConsent(last.message, 'update')).acknowledgedAtMs !== undefined;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      last.isAnswered = true;
    }
  }

  /** `journeyId` names any run by its run key; each kind of run has its own member for it. */
  async decide(message: ResolveInquiryMessage): Promise<void> {
    this.books.decisions.push({ atMs: Date.now(), message });
    const { journeyId, applicants } = message;
    if (applicants) this.books.amended.set(journeyId, [...(this.books.amended.get(journeyId) ?? []), applicants]);
    const { kind, id } = parseRunKey(journeyId);
    const { journeyId: _, ...decision } = message;
    const sent = { ...decision, [ID_NAMES[kind]]: id };
    await this.update(journeyId, 'resolveInquiry', sent, MESSAGES.resolveInquiry.toKey('resolveInquiry', message));
  }

  async cancel(journeyId: string): Promise<void> {
    this.books.cancelled.add(journeyId);
    await this.patiently(() => this.handle(journeyId).cancel());
  }

  /** Resolves with the answer: the run's, or the API's. */
  update(journeyId: string, name: string, message: object, businessKey = name): Promise<unknown> {
    if (!this.#api.takes(journeyId, businessKey)) return this.#updateRun(journeyId, name, message, businessKey);
    return this.#api.send(messageOf(journeyId, name, message), businessKey);
  }

  #updateRun(journeyId: string, name: string, message: object, businessKey: string): Promise<unknown> {
    const updateId = toUpdateId(businessKey);
    return this.patiently(() => this.handle(journeyId).executeUpdate(name, { args: [message], updateId }));
  }

  patiently<T>(call: () => Promise<T>, limitMs = CALL_LIMIT_MS): Promise<T> {
    return this.world.client.withDeadline(Date.now() + limitMs, call);
  }
}
