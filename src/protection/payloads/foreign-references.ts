/**
 * Before its codec runs, the SDK looks for payloads that say they are kept in an external storage, and throws where
 * none is configured: one signal of that kind, which anybody who may signal can send, stops a run for good. Nothing of
 * ours is kept outside, so such a payload is let through to the codec, which makes a marker of it.
 */
import { createRequire } from 'node:module';

interface ReferenceModule {
  isReferencePayload: (payload: unknown) => boolean;
}

/** Once in a process is enough; more often does nothing. */
export function passOnExternalReferences(): void {
  // SDK 1.24 (pinned; a test with a real worker fails when this no longer helps) has no option for it: a storage with
  // a driver that refuses is asked only after the reference was parsed, which throws too.
  const path = '@temporalio/common/lib/internal-non-workflow/extstore-helpers.js';
  const helpers = createRequire(import.meta.url)(path) as ReferenceModule;
  helpers.isReferencePayload = () => false;
}
