/** What changed between two reports of the same consumers: docs/changes.md. Pure. */
import { defined } from '../base/defined.ts';
import { type Consumer, type GatewayResponse, refIdResolver } from '../gateway/responses.ts';
import type { ChangeOptions } from '../model/change-options.ts';
import { type ApplicantFile, matchApplicants } from './applicants.ts';
import { completeOptions } from './change-options.ts';
import { Identities, identificationOf, readAddress, readName } from './identification.ts';
import type { ApplicantChanges, ReportChanges, Tradeline, UnreadableField } from './report-changes.ts';
import { entriesOf, inOrder } from './report-text.ts';
import { SummaryBuilder } from './summary.ts';
import { changeOf, pairTradelines, type ReadTradeline, readTradeline } from './tradelines.ts';

/**
 * @param earlier, later answers of report products (interface 2.4, 2.5), as `readResponse` gives them
 * @param options default: `DEFAULT_CHANGE_OPTIONS`
 * @throws RangeError for an invalid option; never for a report's content
 */
export function changesBetween(
  earlier: GatewayResponse,
  later: GatewayResponse,
  options?: Partial<ChangeOptions>,
): ReportChanges {
  const complete = completeOptions(options);
  const { matches, unidentified } = matchApplicants(earlier, later);
  const summary = new SummaryBuilder();
  const applicants: ApplicantChanges[] = [];
  for (const match of matches) {
    const changes = compareFiles(match, complete, summary);
    if (changes) applicants.push(changes);
  }
  for (const changes of applicants) summary.count(changes);
  return { applicants, unidentified, summary: summary.summary };
}

function compareFiles(
  match: { earlier?: ApplicantFile; later?: ApplicantFile },
  options: ChangeOptions,
  summary: SummaryBuilder,
): ApplicantChanges | undefined {
  const [before, after] = [match.earlier, match.later].map((file) => file?.consumers ?? []) as [Consumer[], Consumer[]];
  if (before.length === 0 && after.length === 0) return undefined;
  const changes = emptyChanges(match);
  if (after.length === 0) return { ...changes, presence: 'left' };
  if (before.length === 0) return { ...changes, presence: 'joined' };
  const one = readFile(before, 'earlier', options);
  const other = readFile(after, 'later', options);
  const paired = pairTradelines(one.accounts, other.accounts);
  summary.add(one.accounts, other.accounts, paired);
  const alone = (own: ReadFile, opposite: ReadFile) => (found: { account: ReadTradeline; tied: boolean }) =>
    withIdentification(found, own, opposite);
  return {
    ...changes,
    newAccounts: paired.onlyLater.map(alone(other, one)),
    vanishedAccounts: paired.onlyEarlier.map(alone(one, other)),
    changedAccounts: paired.pairs.flatMap((pair) => changeOf(pair, options) ?? []),
    newNames: other.names.notIn(one.names),
    vanishedNames: one.names.notIn(other.names),
    newAddresses: other.addresses.notIn(one.addresses),
    vanishedAddresses: one.addresses.notIn(other.addresses),
    unreadable: [...one.unreadable, ...other.unreadable],
  };
}

function emptyChanges({ earlier, later }: { earlier?: ApplicantFile; later?: ApplicantFile }): ApplicantChanges {
  const applicantId = later?.applicantId ?? earlier?.applicantId;
  const consumerId = later?.consumerId ?? earlier?.consumerId;
  return {
    ...defined({ applicantId, consumerId }),
    presence: 'both',
    newAccounts: [],
    vanishedAccounts: [],
    changedAccounts: [],
    newNames: [],
    vanishedNames: [],
    newAddresses: [],
    vanishedAddresses: [],
    unreadable: [],
  };
}

interface ReadFile {
  accounts: ReadTradeline[];
  /** Resolves each account's cross-references in the consumer object that contains the account. */
  resolvers: Map<ReadTradeline, ReturnType<typeof refIdResolver>>;
  names: Identities<ReturnType<typeof readName>>;
  addresses: Identities<ReturnType<typeof readAddress>>;
  unreadable: UnreadableField[];
}

function readFile(consumers: readonly Consumer[], report: UnreadableField['report'], options: ChangeOptions): ReadFile {
  const resolvers: ReadFile['resolvers'] = new Map();
  const unreadable: UnreadableField[] = [];
  const note = (field: UnreadableField['field'], told?: ReadTradeline['told']) => {
    const { contributor = null, accountNumber = null, opened = null } = told ?? {};
    unreadable.push({ report, field, contributor, accountNumber, opened });
  };
  const listed = (name: 'accounts' | 'names' | 'addresses', field: UnreadableField['field'], consumer: Consumer) => {
    const found = entriesOf(consumer[name]);
    for (let count = 0; count < found.unreadable; count++) note(field);
    return found.entries;
  };
  for (const consumer of consumers) {
    const resolve = refIdResolver(consumer);
    for (const raw of listed('accounts', 'account', consumer)) resolvers.set(readTradeline(raw, options), resolve);
  }
  const accounts = [...resolvers.keys()];
  for (const { told, balance, creditLimit, isStatusReadable } of accounts) {
    if (balance === 'unreadable') note('balance', told);
    if (creditLimit === 'unreadable') note('creditLimit', told);
    if (!isStatusReadable) note('statusCode', told);
  }
  const names = new Identities(
    consumers.flatMap((consumer) => listed('names', 'name', consumer)),
    readName,
  );
  const addresses = new Identities(
    consumers.flatMap((consumer) => listed('addresses', 'address', consumer)),
    readAddress,
  );
  const inWriting = unreadable.map((field) => [JSON.stringify(field), field] as const);
  const sorted = inWriting.sort(([one], [other]) => inOrder(one, other)).map(([, field]) => field);
  return { accounts, resolvers, names, addresses, unreadable: sorted };
}

function withIdentification(
  { account, tied }: { account: ReadTradeline; tied: boolean },
  own: ReadFile,
  opposite: ReadFile,
): Tradeline {
  const resolve = own.resolvers.get(account) ?? (() => undefined);
  const { names, addresses } = opposite;
  const identification = identificationOf(account.raw, { resolve, names, addresses });
  return { ...account.told, tied, ...(identification && { identification }) };
}
