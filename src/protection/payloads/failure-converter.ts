/**
 * Encodes failures as payloads. Without this, messages and stack traces stay readable beside encrypted details. Runs in
 * the worker and in the workflow bundle, where the SDK looks for the export `failureConverter`.
 */
import {
  ApplicationFailure,
  DefaultFailureConverter,
  type PayloadConverter,
  type ProtoFailure,
} from '@temporalio/common';
import { CLEAR_START_MESSAGE } from '../../model/undecodable.ts';

/** A mark in the text of every bundle that contains this module, and of no other. */
export const FAILURE_CONVERTER_MARK = 'credit-journey-failure-converter-1';

type SerializationContext = Parameters<DefaultFailureConverter['errorToFailure']>[2];

class EncodingFailureConverter extends DefaultFailureConverter {
  readonly mark = FAILURE_CONVERTER_MARK;

  constructor() {
    super({ encodeCommonAttributes: true });
  }

  override errorToFailure(error: unknown, converter: PayloadConverter, context?: SerializationContext): ProtoFailure {
    const failure = super.errorToFailure(error, converter, context);
    if (error instanceof ApplicationFailure && error.message === CLEAR_START_MESSAGE) {
      return { ...failure, message: CLEAR_START_MESSAGE, encodedAttributes: null };
    }
    // A failure that is passed on keeps its causes in the clear, as the server or another language sent them.
    for (let cause = failure.cause; cause; cause = cause.cause) {
      if (cause.encodedAttributes) continue;
      cause.encodedAttributes = converter.toPayload({ message: cause.message, stack_trace: cause.stackTrace }, context);
      cause.message = 'Encoded failure';
      cause.stackTrace = '';
    }
    return failure;
  }
}

export const failureConverter = new EncodingFailureConverter();
