/** A made-up portfolio: SSNs that were never issued, each with a record. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import { createSampleRow, SAMPLE_HEADER } from '../../src/local/dev/dev-environment.ts';

export async function writePortfolio(file: string, rows: number): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const out = createWriteStream(file);
  out.write(`${SAMPLE_HEADER}\n`);
  for (let row = 0; row < rows; row++) {
    // `0001` is a record.
    const ssn = `9${String(row % 10_000).padStart(4, '0')}0001`;
    if (!out.write(`${createSampleRow(row, ssn)}\n`)) await once(out, 'drain');
  }
  out.end();
  await finished(out);
}
