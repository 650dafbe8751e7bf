/** Keeps small buffers from holding large slabs of memory in a worker. */
import { Buffer } from 'node:buffer';

const SLAB_BYTES = 8 * 1024;

/**
 * Shrinks Node's slabs for small buffers: 64 kB each, and freed with the last buffer in it. The SDK (1.24) keeps the
 * encoded end of each cached run's last task, which would hold a slab of its own.
 */
export function useSmallSlabs(): void {
  Buffer.poolSize = SLAB_BYTES;
}
