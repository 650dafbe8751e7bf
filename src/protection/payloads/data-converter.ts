/** The one data converter of client, worker, CLI and codec server: encrypted payloads, encoded failures. */
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { FAILURE_CONVERTER_MARK } from './failure-converter.ts';
import { passOnExternalReferences } from './foreign-references.ts';
import { createPayloadCodec, type PayloadCodecOptions } from './payload-codec.ts';

/**
 * For the data converter, and for `bundleWorkflowCode({ failureConverterPath })`. With a prebuilt bundle the SDK
 * silently ignores the data converter's own path, so the bundle must contain the converter.
 */
export const FAILURE_CONVERTER_PATH = fileURLToPath(
  new URL(`./failure-converter.${import.meta.url.endsWith('.js') ? 'js' : 'ts'}`, import.meta.url),
);

export function createDataConverter(options: PayloadCodecOptions): DataConverter {
  if (options.mode === 'worker') passOnExternalReferences();
  return { payloadCodecs: [createPayloadCodec(options)], failureConverterPath: FAILURE_CONVERTER_PATH };
}

/** Whether a prebuilt bundle encodes failures. A worker whose configuration requires it must not start without. */
export function bundleHasFailureConverter(code: string): boolean {
  return code.includes(FAILURE_CONVERTER_MARK);
}
