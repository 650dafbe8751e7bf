/**
 * The messages of `lendingJourney`. A wire name equals its export's name and is never changed: it is in people's
 * histories and in other languages' code.
 */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type {
  AdvanceMessage,
  ConsentMessage,
  ExtendMessage,
  JourneyReferences,
  JourneyStatus,
  RequestShareMessage,
  ResolveInquiryMessage,
  UpdateAnswer,
  WithdrawMessage,
  WithdrawShareMessage,
} from '../../messages/journey/shapes.ts';

export const advance = defineUpdate<UpdateAnswer, [AdvanceMessage]>('advance');
export const extend = defineUpdate<UpdateAnswer, [ExtendMessage]>('extend');
export const resolveInquiry = defineUpdate<UpdateAnswer, [ResolveInquiryMessage]>('resolveInquiry');
export const requestShare = defineUpdate<UpdateAnswer, [RequestShareMessage]>('requestShare');
export const withdrawShare = defineUpdate<UpdateAnswer, [WithdrawShareMessage]>('withdrawShare');
export const recordConsent = defineUpdate<UpdateAnswer, [ConsentMessage]>('recordConsent');
export const withdraw = defineUpdate<UpdateAnswer, [WithdrawMessage]>('withdraw');

export const consent = defineSignal<[ConsentMessage]>('consent');
export const requestWithdrawal = defineSignal<[WithdrawMessage]>('requestWithdrawal');

export const status = defineQuery<JourneyStatus>('status');
export const references = defineQuery<JourneyReferences>('references');
