/** A made-up portfolio: SSNs that were never issued, and each a record. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

const HEADER = 'accountId,first,last,ssn,dob,phoneNumber,emailAddress,ipAddress,line1,city,state,zip';

export async function writePortfolio(file: string, rows: number): Promise<void> {
  const out = createWriteStream(file);
  out.write(`${HEADER}\n`);
  for (let row = 0; row < rows; row++) {
    // `0001` is a record.
    const ssn = `9${String(row % 10_000).padStart(4, '0')}0001`;
    const line = `ACC-${row},Casey,Sample,${ssn},1985-04-12,2025550123,casey.${row}@example.com,192.0.2.17,12 Example Street,Springfield,IL,62704\n`;
    if (!out.write(line)) await once(out, 'drain');
  }
  out.end();
  await finished(out);
}
