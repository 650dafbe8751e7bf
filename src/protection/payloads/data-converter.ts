/** The one data converter of client, worker, CLI and codec server: encrypted payloads, encoded failures. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { FAILURE_CONVERTER_MARK } from './failure-converter.ts';
import { createPayloadCodec, type PayloadCodecOptions } from './payload-codec.ts';

/**
 * Serves the data converter and `bundleWorkflowCode({ failureConverterPath })`. With a prebuilt bundle the SDK silently
 * ignores the data converter's own path, so the bundle must contain the converter.
 */
export const FAILURE_CONVERTER_PATH = fileURLToPath(
  new URL(`./failure-converter.${import.meta.url.endsWith('.js') ? 'js' : 'ts'}`, import.meta.url),
);

export function createDataConverter(options: PayloadCodecOptions): DataConverter {
  if (options.mode === 'worker') passOnExternalReferences();
  const payloadCodecs = [createPayloadCodec(options)];
  return options.encrypts === false
    ? { payloadCodecs }
    : { payloadCodecs, failureConverterPath: FAILURE_CONVERTER_PATH };
}

/**
 * Returns true if a prebuilt bundle encodes failures. A worker whose configuration requires it must not start without.
 */
export function hasFailureConverter(code: string): boolean {
  return code.includes(FAILURE_CONVERTER_MARK);
}

/**
 * Lets payloads that claim to lie in an external storage through to the codec, which makes a marker of them. Before its
 * codec runs, the SDK looks for such payloads, and throws if no storage is configured. Without this, one such signal
 * stops a run for good, and anyone who may signal can send it. Nothing of ours is kept outside. A second call in a
 * process does nothing.
 */
function passOnExternalReferences(): void {
  // SDK 1.24 has no option for it (the version is pinned; a test with a real worker fails when this no longer helps). A
  // storage with a driver that refuses does not help: the SDK parses the reference first, and that throws too.
  const path = '@temporalio/common/lib/internal-non-workflow/extstore-helpers.js';
  const helpers: { isReferencePayload: (payload: unknown) => boolean } = createRequire(import.meta.url)(path);
  helpers.isReferencePayload = () => false;
}
