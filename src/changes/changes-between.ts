/** Compares two reports of the same consumers: docs/changes.md. Everything but the summary is personal. Pure. */
import Big from 'big.js';
import { isRecord } from '../base/is-record.ts';
import { type ChangeOptions, completeOptions, type FigureThreshold } from '../fields/change-options.ts';
import {
  type Consumer,
  CROSS_REFERENCES,
  createRefIdResolver,
  type GatewayResponse,
  type RefKind,
} from '../gateway/responses.ts';
import type { ChangeCounts, ChangeSummary, ChangeTotals } from '../messages/journey/change-summary.ts';

/** One tradeline of a report. A part that is missing or unreadable is `null`. */
interface Tradeline {
  contributor: string | null;
  /** Masked by the gateway. */
  accountNumber: string | null;
  type: string | null;
  opened: string | null;
  /** Decimal strings without unneeded zeros. */
  balance: string | null;
  creditLimit: string | null;
  statusCode: string | null;
  /** Its status code means a closed tradeline. */
  closed: boolean;
  /** Several tradelines of a report have its contributor, number and opening date: a rule decides which is which. */
  tied: boolean;
  /**
   * For REFUPD alone (interface 2.5), of new and vanished tradelines: the name and address that it is reported under.
   * Unknown parts are left out.
   */
  identification?: Partial<Record<RefKind, Identification>>;
}

interface Identification {
  refId: number;
  /** The name or address that it points to, in the form of `ApplicantChanges`, if it points to exactly one. */
  entry?: Record<string, string>;
  /** The other report does not have that name or address. */
  isNew?: boolean;
}

interface FigureMove {
  /** Decimal strings; `null` if the report has none. */
  from: string | null;
  to: string | null;
  /** `to` minus `from`; absent unless both are given. */
  by?: string;
}

interface StatusMove {
  /** By the closed status codes; `changed` is every other change, also from and to none. */
  change: 'closed' | 'reopened' | 'changed';
  from: string | null;
  to: string | null;
}

/** One tradeline that both reports have, with at least one of the three changes. */
interface TradelineChange {
  earlier: Tradeline;
  later: Tradeline;
  status?: StatusMove;
  balance?: FigureMove;
  creditLimit?: FigureMove;
}

/** A field that could not be read and was therefore not compared. */
interface UnreadableField {
  report: 'earlier' | 'later';
  /** For `account`, `name` and `address`: an entry that is no object, or a list that is none. */
  field: 'balance' | 'creditLimit' | 'statusCode' | 'account' | 'name' | 'address';
  contributor: string | null;
  accountNumber: string | null;
  opened: string | null;
}

/** Upper-case, spaces collapsed; missing parts are left out. */
type ReportedName = Partial<Record<'first' | 'middle' | 'last', string>>;
/** In the same form; `zip` has its first five digits. */
type ReportedAddress = Partial<Record<'line1' | 'line2' | 'city' | 'state' | 'zip', string>>;

export interface ApplicantChanges {
  /** From the later report, if it has one. */
  applicantId?: string;
  consumerId?: string;
  /** `joined` and `left`: only one report has a file of this applicant, and nothing is compared. */
  presence: 'both' | 'joined' | 'left';
  newAccounts: Tradeline[];
  /** Tradelines of the earlier report alone. */
  vanishedAccounts: Tradeline[];
  changedAccounts: TradelineChange[];
  newNames: ReportedName[];
  vanishedNames: ReportedName[];
  newAddresses: ReportedAddress[];
  vanishedAddresses: ReportedAddress[];
  unreadable: UnreadableField[];
}

export interface ReportChanges {
  /** Matched by `consumerId`, then `applicantId`. */
  applicants: ApplicantChanges[];
  /** The number of entries that were not compared: without either id, they could not be distinguished. */
  unidentified: { earlier: number; later: number };
  summary: ChangeSummary;
}

interface ComparedSource {
  productCode: string;
  customerTraceNumber: string;
}

/** The compared reports, the thresholds, and the result, as the ledger seals them. Personal throughout. */
export interface SealedChanges extends ReportChanges {
  earlier: ComparedSource;
  later: ComparedSource;
  options: ChangeOptions;
}

// Matches the entries of two reports that concern the same consumer.

/** The entries of one report that concern one consumer. */
interface ApplicantFile {
  consumerId?: string | undefined;
  applicantId?: string | undefined;
  /** The `consumer` objects; several if the report has several entries for one consumer. */
  consumers: Consumer[];
}

/** One side may be missing. */
interface MatchedFiles {
  earlier?: ApplicantFile;
  later?: ApplicantFile;
}

/**
 * Matches by `consumerId`, the gateway's own name of the consumer. The rest is matched by `applicantId`, but only if
 * one side has no `consumerId` and no other candidate exists. So two different consumers are never compared. Entries
 * with neither id are matched if each report has exactly one entry.
 */
function matchApplicants(
  earlier: GatewayResponse,
  later: GatewayResponse,
): { matches: MatchedFiles[]; unidentified: ReportChanges['unidentified'] } {
  const before = readFiles(earlier);
  const after = readFiles(later);
  const matches: MatchedFiles[] = [];
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
  const byApplicant = Map.groupBy(after.files, ({ applicantId }) => applicantId);
  for (const [applicantId, files] of Map.groupBy(before.files, (file) => file.applicantId)) {
    const others = byApplicant.get(applicantId) ?? [];
    const [file] = files;
    const [other] = others;
    if (applicantId === undefined || !file || !other || files.length > 1 || others.length > 1) continue;
    if (file.consumerId === undefined || other.consumerId === undefined) pair(file, other);
  }
  const isAlone = earlier.applicants.length === 1 && later.applicants.length === 1;
  if (isAlone && before.nameless.length + after.nameless.length > 0) {
    const [file] = [...before.nameless, ...before.files];
    const [other] = [...after.nameless, ...after.files];
    if (file && other) pair(file, other);
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

/** Joins the entries that name the same consumer into one file. */
function readFiles({ applicants }: GatewayResponse): { files: Set<ApplicantFile>; nameless: ApplicantFile[] } {
  const files = new Map<string, ApplicantFile>();
  const nameless: ApplicantFile[] = [];
  for (const entry of applicants) {
    const consumerId = readText(entry.consumerId) ?? undefined;
    const applicantId = readText(entry.applicantId) ?? undefined;
    const consumers = isRecord(entry.consumer) ? [entry.consumer as Consumer] : [];
    if (consumerId === undefined && applicantId === undefined) {
      nameless.push({ consumers });
      continue;
    }
    const key = JSON.stringify(consumerId === undefined ? [null, applicantId] : [consumerId]);
    const file = files.get(key) ?? { consumerId, applicantId, consumers: [] };
    file.consumers.push(...consumers);
    // The first id by order of text counts: the report's own order does not matter.
    [file.applicantId] = [file.applicantId, applicantId].filter((id) => id !== undefined).sort(compareTexts);
    files.set(key, file);
  }
  return { files: new Set(files.values()), nameless };
}

/** Returns the ids of a match. The later report's come first. */
function readIds({ earlier, later }: MatchedFiles) {
  const applicantId = later?.applicantId ?? earlier?.applicantId;
  const consumerId = later?.consumerId ?? earlier?.consumerId;
  return { applicantId, consumerId };
}

function toOrder(match: MatchedFiles): string {
  const { applicantId = '', consumerId = '' } = readIds(match);
  return JSON.stringify([consumerId, applicantId]);
}

// Names and addresses: which are new, which are gone, and which of them belong to a tradeline.

type Parts = Record<string, string>;

/** Distinct entries by all of their parts. Entries that differ only in case and spaces are the same. */
type Identities = ReadonlyMap<string, Parts>;

/** The entries that `other` lacks, in a fixed order. */
function listMissing(own: Identities, other: Identities): Parts[] {
  const missing = [...own].filter(([key]) => !other.has(key));
  return missing.sort(([a], [b]) => compareTexts(a, b)).map(([, entry]) => entry);
}

const READERS = {
  names: (entry: Record<string, unknown>) => readParts(entry, ['first', 'middle', 'last']),
  /** A ZIP+4 in only one report does not make another address. */
  addresses: (entry: Record<string, unknown>) => {
    const address = readParts(entry, ['line1', 'line2', 'city', 'state', 'zip']);
    const fiveDigits = /^(\d{5})-?\d{4}$/.exec(address.zip ?? '')?.[1];
    return fiveDigits === undefined ? address : { ...address, zip: fiveDigits };
  },
};

function readParts(entry: Record<string, unknown>, names: readonly string[]): Parts {
  const found: Parts = {};
  for (const name of names) {
    const text = Object.hasOwn(entry, name) ? toComparable(entry[name]) : null;
    if (text !== null) found[name] = text;
  }
  return found;
}

/** The cross-references to entries that are compared, and how each entry is read. */
const COMPARED: Partial<Record<RefKind, keyof typeof READERS>> = {
  name: 'names',
  address: 'addresses',
  relatedAddress: 'addresses',
};

/**
 * 0 means unknown (docs/decisions/gateway.md), and so does any value that is no integer. Returns `undefined` if nothing
 * is known.
 *
 * @param opposite the file of the other report
 */
function readIdentification({ raw, resolve }: ReadTradeline, opposite: ReadFile): Tradeline['identification'] {
  const reference = raw.accountCrossReference;
  if (!isRecord(reference)) return undefined;
  const found: Tradeline['identification'] = {};
  for (const kind of Object.keys(CROSS_REFERENCES) as RefKind[]) {
    const list = COMPARED[kind];
    const refId = reference[CROSS_REFERENCES[kind].member];
    if (typeof refId !== 'number' || !Number.isSafeInteger(refId) || refId === 0) continue;
    const target = list && resolve(kind, refId);
    const entry = target && READERS[list](target);
    found[kind] = entry ? { refId, entry, isNew: !opposite[list].has(JSON.stringify(entry)) } : { refId };
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
  const compared = matches.flatMap((match) => compareFiles(match, complete));
  const applicants = compared.map(({ changes }) => changes);
  return { applicants, unidentified, summary: { counts: countChanges(applicants), totals: sumUp(compared) } };
}

/** The changes of one applicant; none without a file. The tradelines are those of applicants who are in both reports. */
function compareFiles(match: MatchedFiles, options: ChangeOptions): ComparedFiles[] {
  const { earlier: { consumers: before } = { consumers: [] }, later: { consumers: after } = { consumers: [] } } = match;
  if (before.length === 0 && after.length === 0) return [];
  const presence = after.length === 0 ? 'left' : before.length === 0 ? 'joined' : 'both';
  const earlier = readFile(presence === 'both' ? before : [], 'earlier', options);
  const later = readFile(presence === 'both' ? after : [], 'later', options);
  const { pairs, onlyEarlier, onlyLater } = pairTradelines(earlier.accounts, later.accounts);
  const changes: ApplicantChanges = {
    ...readIds(match),
    presence,
    newAccounts: onlyLater.map((line) => ({ ...line.shown, identification: readIdentification(line, earlier) })),
    vanishedAccounts: onlyEarlier.map((line) => ({ ...line.shown, identification: readIdentification(line, later) })),
    changedAccounts: pairs.flatMap((pair) => findChange(pair, options) ?? []),
    newNames: listMissing(later.names, earlier.names),
    vanishedNames: listMissing(earlier.names, later.names),
    newAddresses: listMissing(later.addresses, earlier.addresses),
    vanishedAddresses: listMissing(earlier.addresses, later.addresses),
    unreadable: [...earlier.unreadable, ...later.unreadable],
  };
  return [{ changes, earlier: earlier.accounts, later: later.accounts, onlyEarlier, onlyLater }];
}

/** The lists of a consumer that are compared, with the names of their entries. */
const ENTRIES = { accounts: 'account', names: 'name', addresses: 'address' } as const;

interface ReadFile {
  accounts: ReadTradeline[];
  names: Identities;
  addresses: Identities;
  unreadable: UnreadableField[];
}

function readFile(consumers: readonly Consumer[], report: UnreadableField['report'], options: ChangeOptions): ReadFile {
  const unreadable: UnreadableField[] = [];
  const note = (field: UnreadableField['field'], shown?: ReadTradeline['shown']) => {
    const { contributor = null, accountNumber = null, opened = null } = shown ?? {};
    unreadable.push({ report, field, contributor, accountNumber, opened });
  };
  const listEntries = (consumer: Consumer, name: keyof typeof ENTRIES) => {
    const list: unknown = consumer[name] ?? [];
    // A value that is no list counts as one unreadable entry.
    const entries: unknown[] = Array.isArray(list) ? list : [undefined];
    for (const entry of entries) {
      if (!isRecord(entry)) note(ENTRIES[name]);
    }
    return entries.filter(isRecord);
  };
  const accounts = consumers.flatMap((consumer) => {
    const resolve = createRefIdResolver(consumer);
    return listEntries(consumer, 'accounts').map((raw) => readTradeline(raw, resolve, options));
  });
  for (const { shown, balance, creditLimit, isStatusReadable } of accounts) {
    if (balance === 'unreadable') note('balance', shown);
    if (creditLimit === 'unreadable') note('creditLimit', shown);
    if (!isStatusReadable) note('statusCode', shown);
  }
  const listIdentities = (name: keyof typeof READERS): Identities => {
    const entries = consumers.flatMap((consumer) => listEntries(consumer, name)).map(READERS[name]);
    const known = entries.filter((entry) => Object.keys(entry).length > 0);
    return new Map(known.map((entry) => [JSON.stringify(entry), entry]));
  };
  const [names, addresses] = [listIdentities('names'), listIdentities('addresses')];
  unreadable.sort((a, b) => compareTexts(JSON.stringify(a), JSON.stringify(b)));
  return { accounts, names, addresses, unreadable };
}

// Counts and sums of changes: the part of a comparison that a journey's result may hold.

type ComparedFiles = Record<'earlier' | 'later' | 'onlyEarlier' | 'onlyLater', ReadTradeline[]> & {
  changes: ApplicantChanges;
};

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

function sumUp(compared: readonly ComparedFiles[]): ChangeTotals {
  const sum = (list: Exclude<keyof ComparedFiles, 'changes'>, figure: 'balance' | 'creditLimit') =>
    sumFigures(compared.flatMap((files) => files[list].map((line) => line[figure])));
  return {
    balance: { earlier: sum('earlier', 'balance'), later: sum('later', 'balance') },
    creditLimit: { earlier: sum('earlier', 'creditLimit'), later: sum('later', 'creditLimit') },
    newAccounts: { balance: sum('onlyLater', 'balance'), creditLimit: sum('onlyLater', 'creditLimit') },
    vanishedAccounts: { balance: sum('onlyEarlier', 'balance'), creditLimit: sum('onlyEarlier', 'creditLimit') },
  };
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
  shown: Tradeline;
  balance: Figure;
  creditLimit: Figure;
  isStatusReadable: boolean;
  /** The entry as it came. */
  raw: Record<string, unknown>;
  /** Resolves a cross-reference in the consumer object that contains the entry. */
  resolve: ReturnType<typeof createRefIdResolver>;
}

function readTradeline(
  raw: Record<string, unknown>,
  resolve: ReadTradeline['resolve'],
  { closedStatusCodes }: ChangeOptions,
): ReadTradeline {
  const balance = readFigure(raw.balance);
  const creditLimit = readFigure(raw.creditLimit);
  const statusCode = readText(raw.statusCode);
  const shown: Tradeline = {
    contributor: readText(raw.contributor),
    accountNumber: readText(raw.accountNumber),
    type: readText(raw.type),
    opened: readText(raw.opened),
    balance: formatFigureOrNull(balance),
    creditLimit: formatFigureOrNull(creditLimit),
    statusCode,
    closed: statusCode !== null && closedStatusCodes.includes(statusCode),
    tied: false,
  };
  const reference = isRecord(raw.accountCrossReference) ? raw.accountCrossReference : {};
  const references = Object.entries(reference).sort(([a], [b]) => compareTexts(a, b));
  return {
    key: JSON.stringify([toComparable(raw.contributor), toComparable(raw.accountNumber), shown.opened]),
    content: JSON.stringify([
      shown.type,
      balance === 'unreadable' ? [] : shown.balance,
      creditLimit === 'unreadable' ? [] : shown.creditLimit,
      statusCode,
    ]),
    rank: JSON.stringify([shown, references]),
    shown,
    balance,
    creditLimit,
    // `readText` returns no text for a missing or an empty one.
    isStatusReadable: statusCode !== null || (raw.statusCode ?? null) === null || typeof raw.statusCode === 'string',
    raw,
    resolve,
  };
}

interface PairedTradelines {
  pairs: { earlier: ReadTradeline; later: ReadTradeline }[];
  onlyEarlier: ReadTradeline[];
  onlyLater: ReadTradeline[];
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
    const [own = [], others = []] = [before.get(key), after.get(key)];
    const isTied = own.length > 1 || others.length > 1;
    for (const { shown } of [...own, ...others]) shown.tied = isTied;
    const waiting = Map.groupBy(others.sort(compareRanks), ({ content }) => content);
    const left: ReadTradeline[] = [];
    for (const earlier of own.sort(compareRanks)) {
      const later = waiting.get(earlier.content)?.shift();
      if (later) paired.pairs.push({ earlier, later });
      else left.push(earlier);
    }
    const rest = [...waiting.values()].flat().sort(compareRanks);
    for (const later of rest.splice(0, left.length)) {
      const [earlier] = left.splice(0, 1);
      if (earlier) paired.pairs.push({ earlier, later });
    }
    paired.onlyEarlier.push(...left);
    paired.onlyLater.push(...rest);
  }
  return paired;
}

function compareRanks(a: ReadTradeline, b: ReadTradeline): number {
  return (
    compareTexts(a.shown.type ?? '', b.shown.type ?? '') ||
    compareFigures(a.balance, b.balance) ||
    compareFigures(a.creditLimit, b.creditLimit) ||
    compareTexts(a.rank, b.rank)
  );
}

function compareFigures(a: Figure, b: Figure): number {
  if (a instanceof Big && b instanceof Big) return a.cmp(b);
  const place = (figure: Figure) => (figure === null ? 0 : figure === 'unreadable' ? 1 : 2);
  return place(a) - place(b);
}

/** The change of one tradeline; `undefined` if nothing changed beyond the thresholds. */
function findChange(
  { earlier, later }: PairedTradelines['pairs'][number],
  options: ChangeOptions,
): TradelineChange | undefined {
  const status = findStatusMove(earlier, later);
  const balance = moveBetween(earlier.balance, later.balance, options.balance);
  const creditLimit = moveBetween(earlier.creditLimit, later.creditLimit, options.creditLimit);
  if (!status && !balance && !creditLimit) return undefined;
  return { earlier: earlier.shown, later: later.shown, status, balance, creditLimit };
}

function findStatusMove(earlier: ReadTradeline, later: ReadTradeline): StatusMove | undefined {
  if (!earlier.isStatusReadable || !later.isStatusReadable) return undefined;
  const from = earlier.shown.statusCode;
  const to = later.shown.statusCode;
  if (from === to) return undefined;
  if (from === null || to === null || earlier.shown.closed === later.shown.closed)
    return { change: 'changed', from, to };
  return { change: later.shown.closed ? 'closed' : 'reopened', from, to };
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
