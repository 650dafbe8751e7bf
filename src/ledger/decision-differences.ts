/** The differences between a decision and the one that stands under its id. Pure. */
import { differingPaths } from '../base/differing-paths.ts';
import type { DecisionRecord } from './records.ts';

/** Paths in the message that brings a decision. An accepted answer that was disposed of is not compared any more. */
export function decisionDifferences(kept: DecisionRecord, sent: DecisionRecord): string[] {
  const isWhole = kept.answer !== undefined || kept.action !== 'accept';
  return differingPaths(contentOf(kept, isWhole), contentOf(sent, isWhole));
}

function contentOf({ attempt, action, by, reason, providerSaid, answer }: DecisionRecord, withAnswer: boolean): object {
  const outcome = withAnswer && answer?.kind === 'outcome' ? answer : undefined;
  return { attempt, action, by, reason, providerSaid, outcome: outcome?.outcome, reference: outcome?.reference };
}
