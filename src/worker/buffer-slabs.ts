/** Keeps small buffers from holding large slabs of memory in a worker. */
import { Buffer } from 'node:buffer';

const SLAB_BYTES = 8 * 1024;

/**
 * Node cuts small buffers from slabs of 64 kB, and frees a slab with the last of them. The SDK (1.24) keeps the encoded end of
 * each cached run's last task: each of these would hold a slab of its own.
 */
export function useSmallSlabs(): void {
  Buffer.poolSize = SLAB_BYTES;
}
