import { ApplicationFailure } from '@temporalio/workflow';
import { CLEAR_START_MESSAGE, HOW_TO_ENCRYPT, type Undecodable } from '../../model/undecodable.ts';

/** A start that could not be decoded is invalid input like any other: it fails its own run, and nothing else. */
export function undecodableInput({ undecodable: { reason } }: Undecodable): ApplicationFailure {
  const isClear = reason === 'inTheClear';
  const rule = isClear ? `must be encrypted, ${HOW_TO_ENCRYPT}` : `could not be decoded (${reason})`;
  return ApplicationFailure.create({
    type: 'InvalidInput',
    message: isClear ? CLEAR_START_MESSAGE : 'the input could not be decoded; nothing was sent',
    nonRetryable: true,
    details: [{ problems: [{ path: '', rule }] }],
  });
}
