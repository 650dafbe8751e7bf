import { ApplicationFailure } from '@temporalio/workflow';
import type { Undecodable } from '../model/undecodable.ts';

/** A start that could not be decoded is invalid input like any other: it fails its own run, and nothing else. */
export function undecodableInput({ undecodable: { reason } }: Undecodable): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'InvalidInput',
    message: 'the input could not be decoded; nothing was sent',
    nonRetryable: true,
    details: [{ problems: [{ path: '', rule: `could not be decoded (${reason})` }] }],
  });
}
