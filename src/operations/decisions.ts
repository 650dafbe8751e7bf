/** Listings of operators' decisions, and of readings from the ledger. */
import { z } from 'zod';
import { auditedAccess, auditedDecision } from '../ledger/audit/audited.ts';
import { describeAccess, describeDecision } from '../words/records.ts';
import { customerTraceNumber, defineListing, namedBy, recordFilters } from './operation.ts';

export const decisions = defineListing({
  name: 'decisions',
  summary: 'list decisions: who decided what about which inquiry or run, when and why',
  scope: 'inquiries:read',
  input: z.strictObject({
    ...recordFilters,
    customerTraceNumber,
    by: namedBy.describe('Only decisions by this person, as written in the decision.'),
  }),
  output: auditedDecision,
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
  output: auditedAccess,
  order: ['recordedAt', 'accessId'],
  owner: 'runKey',
  read: (ledger, query) => ledger.reading.accessesBetween(query),
  describe: describeAccess,
});
