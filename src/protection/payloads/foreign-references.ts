/**
 * Lets payloads that claim to lie in an external storage through to the codec, which makes a marker of them. Before its
 * codec runs, the SDK looks for such payloads, and throws where no storage is configured. Without this, one such signal
 * stops a run for good, and anyone who may signal can send it. Nothing of ours is kept outside.
 */
import { createRequire } from 'node:module';

interface ReferenceModule {
  isReferencePayload: (payload: unknown) => boolean;
}

/** Once in a process is enough; a second call does nothing. */
export function passOnExternalReferences(): void {
  // SDK 1.24 has no option for it (the version is pinned; a test with a real worker fails when this no longer helps). A
  // storage with a driver that refuses does not help: the SDK parses the reference first, and that throws too.
  const path = '@temporalio/common/lib/internal-non-workflow/extstore-helpers.js';
  const helpers = createRequire(import.meta.url)(path) as ReferenceModule;
  helpers.isReferencePayload = () => false;
}
