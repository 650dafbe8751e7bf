/** Portfolio files with made-up people. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toPortfolioFolder } from '../../src/messages/portfolio/output-files.ts';

export const HEADER =
  'accountId,first,middle,last,gen,ssn,dob,phoneNumber,phoneType,emailAddress,ipAddress,line1,line2,city,state,zip,zip4';

/** Formats a row. Its SSN was never issued, and its last four digits ask the sandbox for a fault. */
export function formatCsvLine(index: number, lastFour = '0001'): string {
  const ssn = `9${String(index % 10_000).padStart(4, '0')}${lastFour}`;
  const email = `casey.${index}@example.com`;
  return `ACC-${index},Casey,,Sample,,${ssn},1985-04-12,2025550123,MOBL,${email},192.0.2.17,12 Example Street,,Springfield,IL,62704,`;
}

export function csvText(rows: number, lastFourOf: (index: number) => string = () => '0001'): string {
  const lines = Array.from({ length: rows }, (_, index) => formatCsvLine(index, lastFourOf(index)));
  return `${[HEADER, ...lines].join('\n')}\n`;
}

/** The folder of the end user that tests ask for. */
export const FOLDER = toPortfolioFolder({ endUserCode: 'EU123' });

/** Writes a file into an end user's folder of PORTFOLIO_DIR, and returns its name for a review's input. */
export async function writePortfolio(
  directory: string,
  file: string,
  text: string | Buffer,
  folder = FOLDER,
): Promise<string> {
  await mkdir(join(directory, folder), { recursive: true });
  await writeFile(join(directory, folder, file), text);
  return file;
}

export function jsonlLine(index: number, lastFour = '0001'): string {
  const ssn = `9${String(index % 10_000).padStart(4, '0')}${lastFour}`;
  const applicant = {
    ...{ applicantId: '1A', names: [{ first: 'Casey', last: 'Sample' }], ssn, dob: '1985-04-12' },
    ...{ phones: [{ phoneNumber: '2025550123' }], emailAddress: `casey.${index}@example.com`, ipAddress: '192.0.2.17' },
    addresses: [{ addressIdentifier: 'C', line1: '12 Example Street', city: 'Springfield', state: 'IL', zip: '62704' }],
  };
  return JSON.stringify({ accountId: `ACC-${index}`, applicants: [applicant] });
}

/** Formats a row of two applicants. */
export function jointLine(index: number): string {
  const row = JSON.parse(jsonlLine(index));
  const [first] = row.applicants;
  row.applicants.push({ ...first, applicantId: '2A', ssn: `8${first.ssn.slice(1)}`, emailAddress: 'two@example.com' });
  return JSON.stringify(row);
}
