/** Compares two reports of the same consumers: docs/changes.md. Pure. */
import Big from 'big.js';
import { omitUndefined } from '../base/defined.ts';
import { isRecord } from '../base/is-record.ts';
import {
  type ChangeOptions,
  completeOptions,
  DEFAULT_CHANGE_OPTIONS,
  type FigureThreshold,
} from '../fields/change-options.ts';
import {
  type AccountCrossReference,
  type Consumer,
  createRefIdResolver,
  type GatewayResponse,
  type RefKind,
} from '../gateway/responses.ts';
import type { ChangeCounts, ChangeTotals } from '../messages/journey/change-summary.ts';
import type {
  ApplicantChanges,
  FigureMove,
  Identification,
  ReportChanges,
  ReportedAddress,
  ReportedName,
  SealedChanges,
  StatusMove,
  Tradeline,
  TradelineChange,
  UnreadableField,
} from './report-changes.ts';

// Matches the entries of two reports that concern the same consumer.

/** The entries of one report that concern one consumer. */
interface ApplicantFile {
  consumerId?: string;
  applicantId?: string;
  /** The `consumer` objects; several if the report has several entries for one consumer. */
  consumers: Consumer[];
}

interface MatchedApplicants {
  /** Matched by `consumerId`, then `applicantId`; one side may be missing. */
  matches: { earlier?: ApplicantFile; later?: ApplicantFile }[];
  unidentified: { earlier: number; later: number };
}

/**
 * Matches by `consumerId`, the gateway's own name of the consumer. The rest is matched by `applicantId`, but only if
 * one side has no `consumerId` and no other candidate exists. So two different consumers are never compared. Entries
 * with neither id are matched if each report has exactly one entry.
 */
function matchApplicants(earlier: GatewayResponse, later: GatewayResponse): MatchedApplicants {
  const before = readFiles(earlier);
  const after = readFiles(later);
  const matches: MatchedApplicants['matches'] = [];
  const pair = (a: ApplicantFile, b: ApplicantFile) => {
    matches.push({ earlier: a, later: b });
    before.files.delete(a);
    after.files.delete(b);
  };
  const byConsumer = new Map([...after.files].map((file) => [file.consumerId, file]));
  for (const file of [...before.files]) {
    const other = file.consumerId === undefined ? undefined : byConsumer.get(file.consumerId);
    if (other) pair(file, other);
  }
  pairByApplicantId(before.files, after.files, pair);
  const [lone] = before.nameless;
  const [other] = after.nameless;
  const isAlone = earlier.applicants.length === 1 && later.applicants.length === 1;
  if (isAlone && (lone || other)) {
    const file = lone ?? [...before.files][0];
    const another = other ?? [...after.files][0];
    if (file && another) pair(file, another);
  }
  for (const file of before.files) matches.push({ earlier: file });
  for (const file of after.files) matches.push({ later: file });
  return {
    matches: matches.sort((a, b) => compareTexts(toOrder(a), toOrder(b))),
    unidentified: isAlone
      ? { earlier: 0, later: 0 }
      : { earlier: before.nameless.length, later: after.nameless.length },
  };
}

function pairByApplicantId(
  before: ReadonlySet<ApplicantFile>,
  after: ReadonlySet<ApplicantFile>,
  pair: (a: ApplicantFile, b: ApplicantFile) => void,
): void {
  const ofBefore = Map.groupBy(before, ({ applicantId }) => applicantId);
  const ofAfter = Map.groupBy(after, ({ applicantId }) => applicantId);
  for (const [applicantId, ones] of ofBefore) {
    if (applicantId === undefined) continue;
    const others = ofAfter.get(applicantId) ?? [];
    const [earlierFile] = ones;
    const [other] = others;
    if (!earlierFile || !other || ones.length > 1 || others.length > 1) continue;
    if (earlierFile.consumerId === undefined || other.consumerId === undefined) pair(earlierFile, other);
  }
}

/** Joins the entries that name the same consumer into one file. */
function readFiles({ applicants }: GatewayResponse): { files: Set<ApplicantFile>; nameless: ApplicantFile[] } {
  const files = new Map<string, ApplicantFile>();
  const nameless: ApplicantFile[] = [];
  for (const entry of applicants) {
    const consumerId = readText(entry.consumerId);
    const applicantId = readText(entry.applicantId);
    const consumers = isRecord(entry.consumer) ? [entry.consumer as Consumer] : [];
    if (consumerId === null && applicantId === null) {
      nameless.push({ consumers });
      continue;
    }
    const key = JSON.stringify(consumerId === null ? [null, applicantId] : [consumerId]);
    const file = files.get(key);
    if (file) {
      file.consumers.push(...consumers);
      // The first id by order of text counts: the report's own order does not matter.
      const [first] = [file.applicantId, applicantId ?? undefined].filter((id) => id !== undefined).sort(compareTexts);
      if (first !== undefined) file.applicantId = first;
    } else {
      files.set(key, {
        ...(consumerId === null ? {} : { consumerId }),
        ...(applicantId === null ? {} : { applicantId }),
        consumers,
      });
    }
  }
  return { files: new Set(files.values()), nameless };
}

function toOrder({ earlier, later }: MatchedApplicants['matches'][number]): string {
  return JSON.stringify([
    later?.consumerId ?? earlier?.consumerId ?? '',
    later?.applicantId ?? earlier?.applicantId ?? '',
  ]);
}

// Names and addresses: which are new, which are gone, and which of them belong to a tradeline.

type Parts = Record<string, string>;

/** Distinct entries by all of their parts. Entries that differ only in case and spaces are the same. */
class Identities<Entry extends Parts> {
  readonly #byKey = new Map<string, Entry>();
  readonly #read: (entry: Record<string, unknown>) => Entry;

  constructor(entries: Iterable<Record<string, unknown>>, read: (entry: Record<string, unknown>) => Entry) {
    this.#read = read;
    for (const entry of entries) {
      const parts = read(entry);
      if (Object.keys(parts).length > 0) this.#byKey.set(JSON.stringify(parts), parts);
    }
  }

  has(entry: Record<string, unknown>): boolean {
    return this.#byKey.has(JSON.stringify(this.#read(entry)));
  }

  /** The entries that `other` lacks, in a fixed order. */
  notIn(other: Identities<Entry>): Entry[] {
    return [...this.#byKey]
      .filter(([key]) => !other.#byKey.has(key))
      .sort(([a], [b]) => compareTexts(a, b))
      .map(([, entry]) => entry);
  }
}

function readName(entry: Record<string, unknown>): ReportedName & Parts {
  return parts(entry, ['first', 'middle', 'last']);
}

/** A ZIP+4 in only one report does not make another address. */
function readAddress(entry: Record<string, unknown>): ReportedAddress & Parts {
  const address = parts(entry, ['line1', 'line2', 'city', 'state', 'zip']);
  const fiveDigits = /^(\d{5})-?\d{4}$/.exec(address.zip ?? '')?.[1];
  return fiveDigits === undefined ? address : { ...address, zip: fiveDigits };
}

function parts(entry: Record<string, unknown>, names: readonly string[]): Parts {
  const found: Parts = {};
  for (const name of names) {
    const text = Object.hasOwn(entry, name) ? toComparable(entry[name]) : null;
    if (text !== null) found[name] = text;
  }
  return found;
}

/** Interface 2.5. */
const REF_FIELDS: Record<RefKind, keyof AccountCrossReference> = {
  name: 'consumerNameRefId',
  address: 'consumerAddressRefId',
  ssn: 'consumerSsnRefId',
  dob: 'consumerDOBRefId',
  phone: 'consumerPhoneNbrRefId',
  relatedAddress: 'relatedAddressRefId',
};

interface IdentificationContext {
  resolve: (kind: RefKind, refId: number | undefined) => Record<string, unknown> | undefined;
  /** The entries of the other report. */
  names: Identities<ReportedName & Parts>;
  addresses: Identities<ReportedAddress & Parts>;
}

/**
 * 0 means unknown (docs/decisions/gateway.md), and so does any value that is no integer. Returns `undefined` if nothing
 * is known.
 */
function readIdentification(
  account: Record<string, unknown>,
  { resolve, names, addresses }: IdentificationContext,
): Partial<Record<RefKind, Identification>> | undefined {
  const reference = account.accountCrossReference;
  if (!isRecord(reference)) return undefined;
  const found: Partial<Record<RefKind, Identification>> = {};
  for (const kind of Object.keys(REF_FIELDS) as RefKind[]) {
    const refId = reference[REF_FIELDS[kind]];
    if (typeof refId !== 'number' || !Number.isSafeInteger(refId) || refId === 0) continue;
    const entry = resolve(kind, refId);
    if (entry && kind === 'name') {
      found[kind] = { refId, entry: readName(entry), isNew: !names.has(entry) };
    } else if (entry && (kind === 'address' || kind === 'relatedAddress')) {
      found[kind] = { refId, entry: readAddress(entry), isNew: !addresses.has(entry) };
    } else {
      found[kind] = { refId };
    }
  }
  return Object.keys(found).length > 0 ? found : undefined;
}

/**
 * @param earlier, later answers of report products (interface 2.4, 2.5), as `readResponse` gives them
 * @param options default: `DEFAULT_CHANGE_OPTIONS`
 * @throws InvalidInputError for an invalid option; never for a report's content
 */
export function changesBetween(
  earlier: GatewayResponse,
  later: GatewayResponse,
  options?: Partial<ChangeOptions>,
): ReportChanges {
  const complete = completeOptions(options);
  const { matches, unidentified } = matchApplicants(earlier, later);
  const compared: ComparedTradelines = { earlier: [], later: [], onlyEarlier: [], onlyLater: [] };
  const applicants: ApplicantChanges[] = [];
  for (const match of matches) {
    const changes = compareFiles(match, complete, compared);
    if (changes) applicants.push(changes);
  }
  return { applicants, unidentified, summary: { counts: countChanges(applicants), totals: sumUp(compared) } };
}

function compareFiles(
  match: { earlier?: ApplicantFile; later?: ApplicantFile },
  options: ChangeOptions,
  compared: ComparedTradelines,
): ApplicantChanges | undefined {
  const [before, after] = [match.earlier, match.later].map((file) => file?.consumers ?? []) as [Consumer[], Consumer[]];
  if (before.length === 0 && after.length === 0) return undefined;
  const changes = createEmptyChanges(match);
  if (after.length === 0) return { ...changes, presence: 'left' };
  if (before.length === 0) return { ...changes, presence: 'joined' };
  const earlierFile = readFile(before, 'earlier', options);
  const other = readFile(after, 'later', options);
  const paired = pairTradelines(earlierFile.accounts, other.accounts);
  compared.earlier.push(...earlierFile.accounts);
  compared.later.push(...other.accounts);
  compared.onlyEarlier.push(...paired.onlyEarlier.map(({ account }) => account));
  compared.onlyLater.push(...paired.onlyLater.map(({ account }) => account));
  const alone = (own: ReadFile, opposite: ReadFile) => (found: { account: ReadTradeline; tied: boolean }) =>
    withIdentification(found, own, opposite);
  return {
    ...changes,
    newAccounts: paired.onlyLater.map(alone(other, earlierFile)),
    vanishedAccounts: paired.onlyEarlier.map(alone(earlierFile, other)),
    changedAccounts: paired.pairs.flatMap((pair) => findChange(pair, options) ?? []),
    newNames: other.names.notIn(earlierFile.names),
    vanishedNames: earlierFile.names.notIn(other.names),
    newAddresses: other.addresses.notIn(earlierFile.addresses),
    vanishedAddresses: earlierFile.addresses.notIn(other.addresses),
    unreadable: [...earlierFile.unreadable, ...other.unreadable],
  };
}

function createEmptyChanges({ earlier, later }: { earlier?: ApplicantFile; later?: ApplicantFile }): ApplicantChanges {
  const applicantId = later?.applicantId ?? earlier?.applicantId;
  const consumerId = later?.consumerId ?? earlier?.consumerId;
  return {
    ...omitUndefined({ applicantId, consumerId }),
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
  resolvers: Map<ReadTradeline, ReturnType<typeof createRefIdResolver>>;
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
  const listEntries = (
    name: 'accounts' | 'names' | 'addresses',
    field: UnreadableField['field'],
    consumer: Consumer,
  ) => {
    const found = readEntries(consumer[name]);
    for (let count = 0; count < found.unreadable; count++) note(field);
    return found.entries;
  };
  for (const consumer of consumers) {
    const resolve = createRefIdResolver(consumer);
    for (const raw of listEntries('accounts', 'account', consumer)) resolvers.set(readTradeline(raw, options), resolve);
  }
  const accounts = [...resolvers.keys()];
  for (const { told, balance, creditLimit, isStatusReadable } of accounts) {
    if (balance === 'unreadable') note('balance', told);
    if (creditLimit === 'unreadable') note('creditLimit', told);
    if (!isStatusReadable) note('statusCode', told);
  }
  const names = new Identities(
    consumers.flatMap((consumer) => listEntries('names', 'name', consumer)),
    readName,
  );
  const addresses = new Identities(
    consumers.flatMap((consumer) => listEntries('addresses', 'address', consumer)),
    readAddress,
  );
  const inWriting = unreadable.map((field) => [JSON.stringify(field), field] as const);
  const sorted = inWriting.sort(([a], [b]) => compareTexts(a, b)).map(([, field]) => field);
  return { accounts, resolvers, names, addresses, unreadable: sorted };
}

function withIdentification(
  { account, tied }: { account: ReadTradeline; tied: boolean },
  own: ReadFile,
  opposite: ReadFile,
): Tradeline {
  const resolve = own.resolvers.get(account) ?? (() => undefined);
  const { names, addresses } = opposite;
  const identification = readIdentification(account.raw, { resolve, names, addresses });
  return { ...account.told, tied, ...(identification && { identification }) };
}

// Counts and sums of changes: the part of a comparison that a journey's result may hold.

/** The tradelines of the applicants who are in both reports. */
type ComparedTradelines = Record<'earlier' | 'later' | 'onlyEarlier' | 'onlyLater', ReadTradeline[]>;

function countChanges(applicants: readonly ApplicantChanges[]): ChangeCounts {
  const sum = (count: (changes: ApplicantChanges) => number) =>
    applicants.reduce((total, changes) => total + count(changes), 0);
  const present = (presence: ApplicantChanges['presence']) => sum((changes) => Number(changes.presence === presence));
  const countChanged = (is: (change: TradelineChange) => boolean) =>
    sum(({ changedAccounts }) => changedAccounts.filter(is).length);
  return {
    applicantsCompared: present('both'),
    applicantsJoined: present('joined'),
    applicantsLeft: present('left'),
    newAccounts: sum(({ newAccounts }) => newAccounts.length),
    vanishedAccounts: sum(({ vanishedAccounts }) => vanishedAccounts.length),
    closedAccounts: countChanged(({ status }) => status?.change === 'closed'),
    reopenedAccounts: countChanged(({ status }) => status?.change === 'reopened'),
    statusChanges: countChanged(({ status }) => status?.change === 'changed'),
    balanceMoves: countChanged(({ balance }) => balance !== undefined),
    creditLimitMoves: countChanged(({ creditLimit }) => creditLimit !== undefined),
    newNames: sum(({ newNames }) => newNames.length),
    vanishedNames: sum(({ vanishedNames }) => vanishedNames.length),
    newAddresses: sum(({ newAddresses }) => newAddresses.length),
    vanishedAddresses: sum(({ vanishedAddresses }) => vanishedAddresses.length),
    unreadable: sum(({ unreadable }) => unreadable.length),
  };
}

function sumUp({ earlier, later, onlyEarlier, onlyLater }: ComparedTradelines): ChangeTotals {
  const sums = (accounts: readonly ReadTradeline[]) => ({
    balance: sumFigures(accounts.map(({ balance }) => balance)),
    creditLimit: sumFigures(accounts.map(({ creditLimit }) => creditLimit)),
  });
  const [before, after] = [sums(earlier), sums(later)];
  return {
    balance: { earlier: before.balance, later: after.balance },
    creditLimit: { earlier: before.creditLimit, later: after.creditLimit },
    newAccounts: sums(onlyLater),
    vanishedAccounts: sums(onlyEarlier),
  };
}

/** The list of changes as the ledger keeps it: JSON, sealed like a report. */
export function encodeSealedChanges({
  changes,
  options,
  ...compared
}: Pick<SealedChanges, 'earlier' | 'later'> & { changes: ReportChanges; options?: Partial<ChangeOptions> }): string {
  const complete = { ...DEFAULT_CHANGE_OPTIONS, ...options };
  return JSON.stringify({ ...compared, options: complete, ...changes } satisfies SealedChanges);
}

// Compares the tradelines of two reports: the same, new and vanished ones, and the changes of each.

/** One entry of `consumer.accounts[]`, parsed. */
interface ReadTradeline {
  /** Contributor, masked account number and opening date: two tradelines with the same key are the same. */
  key: string;
  /** Everything that is compared. Equal contents mean no change. */
  content: string;
  /** Orders tradelines with one key. Two have the same rank only if they are identical. */
  rank: string;
  told: Omit<Tradeline, 'tied'>;
  balance: Figure;
  creditLimit: Figure;
  isStatusReadable: boolean;
  /** The entry as it came. */
  raw: Record<string, unknown>;
}

function readTradeline(raw: Record<string, unknown>, { closedStatusCodes }: ChangeOptions): ReadTradeline {
  const balance = readFigure(raw.balance);
  const creditLimit = readFigure(raw.creditLimit);
  const statusCode = readText(raw.statusCode);
  const told: ReadTradeline['told'] = {
    contributor: readText(raw.contributor),
    accountNumber: readText(raw.accountNumber),
    type: readText(raw.type),
    opened: readText(raw.opened),
    balance: formatFigureOrNull(balance),
    creditLimit: formatFigureOrNull(creditLimit),
    statusCode,
    closed: statusCode !== null && closedStatusCodes.includes(statusCode),
  };
  const reference = isRecord(raw.accountCrossReference) ? raw.accountCrossReference : {};
  const references = Object.entries(reference).sort(([a], [b]) => compareTexts(a, b));
  return {
    key: JSON.stringify([toComparable(raw.contributor), toComparable(raw.accountNumber), told.opened]),
    content: JSON.stringify([
      told.type,
      balance === 'unreadable' ? [] : told.balance,
      creditLimit === 'unreadable' ? [] : told.creditLimit,
      statusCode,
    ]),
    rank: JSON.stringify([told, references]),
    told,
    balance,
    creditLimit,
    // `readText` returns no text for a missing or an empty one.
    isStatusReadable: statusCode !== null || (raw.statusCode ?? null) === null || typeof raw.statusCode === 'string',
    raw,
  };
}

interface PairedTradelines {
  pairs: { earlier: ReadTradeline; later: ReadTradeline; tied: boolean }[];
  onlyEarlier: { account: ReadTradeline; tied: boolean }[];
  onlyLater: { account: ReadTradeline; tied: boolean }[];
}

/**
 * Pairs tradelines by key. Among several with one key, those with equal content are paired first. The others are sorted
 * (type, balance, limit, status) and paired in that order; the rest of the longer side stays without a counterpart. The
 * rule is symmetric, and the reports' own order does not matter.
 */
function pairTradelines(earlier: readonly ReadTradeline[], later: readonly ReadTradeline[]): PairedTradelines {
  const before = Map.groupBy(earlier, ({ key }) => key);
  const after = Map.groupBy(later, ({ key }) => key);
  const paired: PairedTradelines = { pairs: [], onlyEarlier: [], onlyLater: [] };
  for (const key of [...new Set([...before.keys(), ...after.keys()])].sort(compareTexts)) {
    const ones = before.get(key) ?? [];
    const others = after.get(key) ?? [];
    const tied = ones.length > 1 || others.length > 1;
    const alike = pairAlike(ones.sort(compareRanks), others.sort(compareRanks));
    const inTurn = Math.min(alike.ones.length, alike.others.length);
    for (const pair of alike.pairs) paired.pairs.push({ ...pair, tied });
    for (const [index, tradeline] of alike.ones.entries()) {
      const other = alike.others[index];
      if (other) paired.pairs.push({ earlier: tradeline, later: other, tied });
      else paired.onlyEarlier.push({ account: tradeline, tied });
    }
    for (const account of alike.others.slice(inTurn)) paired.onlyLater.push({ account, tied });
  }
  return paired;
}

/** Pairs entries with equal content. The rest stays in order. */
function pairAlike(ones: readonly ReadTradeline[], others: readonly ReadTradeline[]) {
  const waiting = Map.groupBy(others, ({ content }) => content);
  const pairs: { earlier: ReadTradeline; later: ReadTradeline }[] = [];
  const left: ReadTradeline[] = [];
  for (const earlier of ones) {
    const later = waiting.get(earlier.content)?.shift();
    if (later) pairs.push({ earlier, later });
    else left.push(earlier);
  }
  return { pairs, ones: left, others: [...waiting.values()].flat().sort(compareRanks) };
}

function compareRanks(a: ReadTradeline, b: ReadTradeline): number {
  return (
    compareTexts(a.told.type ?? '', b.told.type ?? '') ||
    compareFigures(a.balance, b.balance) ||
    compareFigures(a.creditLimit, b.creditLimit) ||
    compareTexts(a.rank, b.rank)
  );
}

function compareFigures(a: Figure, b: Figure): number {
  if (a !== null && a !== 'unreadable' && b !== null && b !== 'unreadable') return a.cmp(b);
  const place = (figure: Figure) => (figure === null ? 0 : figure === 'unreadable' ? 1 : 2);
  return place(a) - place(b);
}

/** The change of one tradeline; `undefined` if nothing changed beyond the thresholds. */
function findChange(
  { earlier, later, tied }: PairedTradelines['pairs'][number],
  options: ChangeOptions,
): TradelineChange | undefined {
  const status = findStatusMove(earlier, later);
  const balance = moveBetween(earlier.balance, later.balance, options.balance);
  const creditLimit = moveBetween(earlier.creditLimit, later.creditLimit, options.creditLimit);
  if (!status && !balance && !creditLimit) return undefined;
  return {
    earlier: { ...earlier.told, tied },
    later: { ...later.told, tied },
    ...(status && { status }),
    ...(balance && { balance }),
    ...(creditLimit && { creditLimit }),
  };
}

function findStatusMove(earlier: ReadTradeline, later: ReadTradeline): StatusMove | undefined {
  if (!earlier.isStatusReadable || !later.isStatusReadable) return undefined;
  const from = earlier.told.statusCode;
  const to = later.told.statusCode;
  if (from === to) return undefined;
  if (from === null || to === null || earlier.told.closed === later.told.closed) return { change: 'changed', from, to };
  return { change: later.told.closed ? 'closed' : 'reopened', from, to };
}

// Reads a report's values without assuming their type. Amounts are decimal strings, compared and added exactly.

/** Bounded, so that no exponent and no length can make the arithmetic expensive. */
const FIGURE = /^-?\d{1,30}(?:\.\d{1,10})?$/;

/** `unreadable` is any given value that is no plain decimal: the result reports it and never guesses. */
type Figure = Big | null | 'unreadable';

/** Returns `null` if the report has no figure: absent, `null` or empty. Amounts are strings (interface 2.4). */
function readFigure(value: unknown): Figure {
  if (value === undefined || value === null || value === '') return null;
  return typeof value === 'string' && FIGURE.test(value) ? new Big(value) : 'unreadable';
}

/** Plain notation without unneeded zeros. */
function formatFigure(figure: Big): string {
  return figure.eq(0) ? '0' : figure.toFixed();
}

function formatFigureOrNull(figure: Figure): string | null {
  return figure === null || figure === 'unreadable' ? null : formatFigure(figure);
}

/**
 * The move between two figures. `undefined` if either is unreadable, both are missing, or they differ by less than the
 * threshold.
 */
function moveBetween(from: Figure, to: Figure, threshold: FigureThreshold): FigureMove | undefined {
  if (from === 'unreadable' || to === 'unreadable' || (from === null && to === null)) return undefined;
  if (from === null || to === null) return { from: formatFigureOrNull(from), to: formatFigureOrNull(to) };
  const by = to.minus(from);
  if (by.eq(0) || !isBeyond(by.abs(), from.abs(), to.abs(), threshold)) return undefined;
  return { from: formatFigure(from), to: formatFigure(to), by: formatFigure(by) };
}

/** The share is of the larger figure: it never divides by zero, and is the same in both directions. */
function isBeyond(difference: Big, a: Big, b: Big, { amount, percent }: FigureThreshold): boolean {
  const larger = a.gt(b) ? a : b;
  return difference.gte(amount) && difference.times(100).gte(larger.times(percent));
}

/** The sum of the readable figures. */
function sumFigures(figures: readonly Figure[]): string {
  const readable = figures.filter((figure) => figure !== null && figure !== 'unreadable');
  return formatFigure(readable.reduce((total, figure) => total.plus(figure), new Big(0)));
}

/** The text without spaces at its ends; an identifier of digits may be a JSON number. `null` for anything else. */
function readText(value: unknown): string | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return (typeof value === 'string' && value.trim()) || null;
}

/** The text in upper case with spaces collapsed: reports may differ in these without any meaning. */
function toComparable(value: unknown): string | null {
  return readText(value)?.toUpperCase().replace(/\s+/g, ' ') ?? null;
}

/** An order that is the same on every machine, unlike an order by language. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The entries of a list. `unreadable` counts entries that are no objects, and a value that is no list. */
function readEntries(list: unknown): { entries: Record<string, unknown>[]; unreadable: number } {
  if (list === undefined || list === null) return { entries: [], unreadable: 0 };
  if (!Array.isArray(list)) return { entries: [], unreadable: 1 };
  const entries = list.filter(isRecord);
  return { entries, unreadable: list.length - entries.length };
}
