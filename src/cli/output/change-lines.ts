/** Prints how a journey's preclose report differs from the report before it, as a table for each applicant. */
import type {
  ApplicantChanges,
  FigureMove,
  Identification,
  SealedChanges,
  StatusMove,
  Tradeline,
  UnreadableField,
} from '../../changes/report-changes.ts';
import type { ChangeTotals } from '../../messages/journey/change-summary.ts';
import { type Output, table, wrap } from './output.ts';

type Row = readonly [what: string, account: string, number: string, detail: string];

export function changeLines(
  { changes: { earlier, later, applicants, unidentified, summary } }: { changes: SealedChanges },
  { width, colors }: Pick<Output, 'width' | 'colors'>,
): string[] {
  const head = `${later.productCode} compared with ${earlier.productCode}`;
  const notCompared = Math.max(unidentified.earlier, unidentified.later);
  const lines = [
    ...applicants.flatMap((applicant) => applicantLines(applicant, width)),
    ...(notCompared > 0 ? [`${notCompared} without an id, not compared`] : []),
    ...totalLines(summary.totals, width),
  ];
  return [...wrap(head, width).map(colors.bold), ...lines.map(printable)];
}

/** A report may hold anything: no character of it may steer a terminal. */
function printable(line: string): string {
  return line.replaceAll(/\p{C}/gu, '?');
}

const PRESENCE: Record<ApplicantChanges['presence'], string> = {
  both: '',
  joined: ' · only in the later report',
  left: ' · only in the earlier report',
};

function applicantLines(applicant: ApplicantChanges, width: number): string[] {
  const name = applicant.applicantId ?? applicant.consumerId ?? 'without an id';
  const rows = [
    ...applicant.newAccounts.flatMap((account) => accountRows('new', account)),
    ...applicant.vanishedAccounts.flatMap((account) => accountRows('vanished', account)),
    ...applicant.changedAccounts.flatMap(({ later, status, balance, creditLimit }) => [
      ...(status ? [accountRow(status.change, later, statusWords(status))] : []),
      ...(balance ? [accountRow('moved', later, `balance ${moveWords(balance)}`)] : []),
      ...(creditLimit ? [accountRow('moved', later, `limit ${moveWords(creditLimit)}`)] : []),
    ]),
    ...applicant.unreadable.map(unreadableRow),
  ];
  const lines = [
    ...table(rows, width, '  '),
    ...identityLines('new name', applicant.newNames, width),
    ...identityLines('vanished name', applicant.vanishedNames, width),
    ...identityLines('new address', applicant.newAddresses, width),
    ...identityLines('vanished address', applicant.vanishedAddresses, width),
  ];
  const isSame = applicant.presence === 'both' && lines.length === 0;
  return [`Applicant ${name}${PRESENCE[applicant.presence]}${isSame ? ' · no change' : ''}`, ...lines];
}

function accountRow(what: string, { contributor, accountNumber, tied }: Tradeline, detail: string): Row {
  return [what, contributor ?? '', accountNumber ?? '', tied ? `${detail} (one of several)` : detail];
}

function accountRows(what: string, account: Tradeline): Row[] {
  const { balance, creditLimit, opened, identification = {} } = account;
  const figures = `${balance ?? '?'} of ${creditLimit ?? '?'}`;
  return [
    accountRow(what, account, opened === null ? figures : `${figures}, ${opened}`),
    ...Object.entries(identification).map(
      ([kind, found]): Row => ['', '', '', `under ${kind} ${identificationWords(found)}`],
    ),
  ];
}

function identificationWords({ refId, entry, isNew }: Identification): string {
  const words = entry === undefined ? '' : ` (${Object.values(entry).join(' ')}${isNew ? ', new' : ''})`;
  return `${refId}${words}`;
}

function statusWords({ from, to }: StatusMove): string {
  return `status ${from ?? 'none'} → ${to ?? 'none'}`;
}

function moveWords({ from, to, by }: FigureMove): string {
  const difference = by === undefined ? '' : ` (${by.startsWith('-') ? '' : '+'}${by})`;
  return `${from ?? 'none'} → ${to ?? 'none'}${difference}`;
}

function unreadableRow({ report, field, contributor, accountNumber }: UnreadableField): Row {
  return ['unreadable', contributor ?? '', accountNumber ?? '', `${field} in the ${report} report`];
}

function identityLines(what: string, entries: readonly Partial<Record<string, string>>[], width: number): string[] {
  return entries.flatMap((entry) => wrap(`${what}: ${Object.values(entry).join(' ')}`, width, '  '));
}

function totalLines({ balance, creditLimit, newAccounts }: ChangeTotals, width: number): string[] {
  return table(
    [
      ['Balances', `${balance.earlier} → ${balance.later}`, `new ${newAccounts.balance}`],
      ['Limits', `${creditLimit.earlier} → ${creditLimit.later}`, `new ${newAccounts.creditLimit}`],
    ],
    width,
  );
}
