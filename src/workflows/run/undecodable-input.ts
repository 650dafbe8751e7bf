import { ApplicationFailure } from '@temporalio/workflow';
import type { Undecodable, UndecodableReason } from '../../model/undecodable.ts';

const RULES: Partial<Record<UndecodableReason, string>> = {
  inTheClear: 'must be encrypted: no start in the clear is taken outside the sandbox',
};

/** A start that could not be decoded is invalid input like any other: it fails its own run, and nothing else. */
export function undecodableInput({ undecodable: { reason } }: Undecodable): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'InvalidInput',
    message: 'the input could not be decoded; nothing was sent',
    nonRetryable: true,
    details: [{ problems: [{ path: '', rule: RULES[reason] ?? `could not be decoded (${reason})` }] }],
  });
}
