/** Made-up rows of a portfolio, and one to try a review with: rows that the sandbox has a record of, and a row that is bad. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const SAMPLE_PORTFOLIO = 'sample.csv';

export const SAMPLE_HEADER = 'accountId,first,last,ssn,dob,phoneNumber,emailAddress,ipAddress,line1,city,state,zip';

/** Never issued as SSNs; the last one lacks a digit. */
const SSNS = ['900110001', '900120001', '900130001', '900140001', '90015001'];

/** Without its line's end. */
export function sampleRow(row: number, ssn: string): string {
  const person = `Casey,Sample,${ssn},1985-04-12,202555010${row % 10},casey.${row}@example.com,192.0.2.17`;
  return `ACC-${row},${person},${row} Example Street,Springfield,IL,62704`;
}

/** One that is there already stays as it is. */
export async function writeSamplePortfolio(directory: string): Promise<void> {
  const text = [SAMPLE_HEADER, ...SSNS.map((ssn, index) => sampleRow(index + 1, ssn)), ''].join('\n');
  await writeFile(join(directory, SAMPLE_PORTFOLIO), text, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
}
