/** `extend`: makes a wait longer while it lasts, of a journey at a gate, or of a share for consent. */
import { z } from 'zod';
import { getMessageFields } from '../fields/fields.ts';
import { defineMessage, type MessageOf } from './message.ts';

const { journeyId, shareId, stage, instant, signature } = getMessageFields();

const extension = {
  until: instant.describe('The wait lasts until then, at least: later than it would, RFC 3339.'),
  ...signature,
};

const ofJourney = z
  .strictObject({
    journeyId,
    /** The stage behind the gate that the journey waits at. This, or `shareId`. */
    gate: stage.describe('Of a journey: the stage behind the gate that it waits at.').optional(),
    shareId: shareId.optional(),
    ...extension,
  })
  .meta({ oneOf: [{ required: ['gate'] }, { required: ['shareId'] }] });

const ofShare = z.strictObject({ shareId, ...extension });

const key = ({ gate, shareId, until }: { gate?: string; shareId?: string; until: string }) =>
  `extend-${gate ?? shareId}-${until}`;

export const extend = defineMessage({
  to: 'journey',
  updates: {
    extend:
      'Makes a wait longer while it lasts: at a gate, or of a share for consent. Fields: journeyId, gate (the stage behind it) or shareId, until (later than its present end), by, reason. Example: {"journeyId":"LOAN-1","gate":"PREAPP","until":"2026-03-01T00:00:00Z","by":"ops","reason":"the appraisal is late"}',
  },
  published: {
    file: 'extend',
    description:
      'Makes the wait at a gate, or of a share for consent, longer while it lasts. `by` and `reason` say who decides, and why.',
  },
  schema: () => ofJourney,
  rules: ({ gate, shareId }) => {
    if ((gate === undefined) !== (shareId === undefined)) return [];
    const rule = gate === undefined ? 'is required, unless shareId is given' : 'must not be given beside shareId';
    return [{ path: '/gate', rule }];
  },
  key,
});

export const extendShareReport = defineMessage({
  to: 'share',
  updates: {
    extend:
      'Makes the wait for consent longer while it lasts. Fields: shareId, until (later than its present end), by, reason. Example: {"shareId":"S-1","until":"2026-03-01T00:00:00Z","by":"ops","reason":"the borrower travels"}',
  },
  published: {
    file: 'extend-share-report',
    description: 'Makes the wait for consent longer while it lasts. `by` and `reason` say who decides, and why.',
  },
  schema: () => ofShare,
  key,
});

export type ExtendMessage = MessageOf<typeof extend>;
