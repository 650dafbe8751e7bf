/** Listings of operators' decisions, and of readings from the ledger. */
import { z } from 'zod';
import { FAILURE_TYPES } from '../model/failure-types.ts';
import { PRODUCTS } from '../model/products.ts';
import { PROVIDER_SAID } from '../model/provider-word.ts';
import { describeAccess, describeDecision } from '../words/records.ts';
import { customerTraceNumber, defineListing, instant, namedBy, recordFilters, text } from './operation.ts';

export const decisions = defineListing({
  name: 'decisions',
  summary: 'list decisions: who decided what about which inquiry or run, when and why',
  scope: 'inquiries:read',
  input: z.strictObject({
    ...recordFilters,
    customerTraceNumber,
    by: namedBy.describe('Only decisions by this person, as written in the decision.'),
  }),
  output: z
    .object({
      recordedAt: instant,
      decidedAt: instant.exactOptional(),
      ...{ decisionId: text, action: text, by: text, reason: text },
      providerSaid: z.enum(PROVIDER_SAID).exactOptional(),
      failureType: z.enum(FAILURE_TYPES).exactOptional().meta({ description: 'Why the inquiry was on hold.' }),
      runKey: text,
      customerTraceNumber: text.exactOptional(),
      attempt: z.int().exactOptional().meta({ description: 'The attempt that it judges.' }),
      productCode: z
        .enum(PRODUCTS)
        .exactOptional()
        .meta({ description: 'The product of the inquiry, or the stage of the run.' }),
      shareId: text.exactOptional(),
      endUserCode: text.exactOptional(),
      endUser: text.exactOptional(),
      profile: text.exactOptional(),
      provenBy: text.exactOptional().meta({ description: 'The id of the key that signed it.' }),
      until: instant.exactOptional().meta({ description: 'The new end of a wait.' }),
    })
    .meta({ id: 'recordedDecision' }),
  order: ['recordedAt', 'runKey', 'decisionId', 'action'],
  owner: 'runKey',
  read: (ledger, query) => ledger.decisionsBetween(query),
  describe: describeDecision,
});

export const accesses = defineListing({
  name: 'accesses',
  summary: 'list readings: who read which report, when, and for which purpose',
  scope: 'inquiries:read',
  input: z.strictObject({
    ...recordFilters,
    customerTraceNumber,
    by: namedBy.describe('Only readings by this person.'),
  }),
  output: z
    .object({
      recordedAt: instant,
      kind: z.enum(['report', 'refusal', 'changes']),
      runKey: text,
      customerTraceNumber: text,
      attempt: z.int(),
      productCode: z.enum(PRODUCTS),
      endUserCode: text.exactOptional(),
      endUser: text.exactOptional(),
      by: text,
      via: z.enum(['ledger', 'api']),
      purpose: text.exactOptional().meta({ description: 'The purpose for which it was served again to its end user.' }),
      redacted: z.boolean(),
      accessId: text,
    })
    .meta({ id: 'recordedAccess' }),
  order: ['recordedAt', 'accessId'],
  owner: 'runKey',
  read: (ledger, query) => ledger.reading.accessesBetween(query),
  describe: describeAccess,
});
