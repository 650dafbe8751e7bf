/** Prints text as it comes. */

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../../base/error-code.ts';

/** Writes as fast as the reader takes it, and ends if a reader such as `head` closes early. */
export async function printText(text: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(text), process.stdout, { end: false });
  } catch (error) {
    if (errorCode(error) !== 'EPIPE') throw error;
  }
}
