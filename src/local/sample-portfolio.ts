/** A portfolio to try a review with: rows that the sandbox has a record of, and a row that is bad. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const SAMPLE_PORTFOLIO = 'sample.csv';

const HEADER = 'accountId,first,last,ssn,dob,phoneNumber,emailAddress,ipAddress,line1,city,state,zip';

/** Never issued as SSNs; the last one lacks a digit. */
const SSNS = ['900110001', '900120001', '900130001', '900140001', '90015001'];

/** One that is there already stays as it is. */
export async function writeSamplePortfolio(directory: string): Promise<void> {
  const rows = SSNS.map((ssn, index) =>
    [
      ...[`ACC-${index + 1}`, 'Casey', 'Sample', ssn, '1985-04-12', `202555010${index}`],
      ...[`casey.${index + 1}@example.com`, '192.0.2.17', `${index + 1} Example Street`, 'Springfield', 'IL', '62704'],
    ].join(','),
  );
  const text = [HEADER, ...rows, ''].join('\n');
  await writeFile(join(directory, SAMPLE_PORTFOLIO), text, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
}
