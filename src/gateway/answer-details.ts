/** Reads the parts of an answer beside its outcome: meanings of codes, reasons, and differences from the request. */
import { omitUndefined } from '../base/defined.ts';
import { type JsonObject, member } from '../base/json-safety.ts';
import { isAlphanumeric } from '../fields/alphanumeric.ts';
import type { AnsweredApplicant } from '../model/inquiry.ts';
import type { Problem } from '../model/problems.ts';
import { PRODUCTS, type ProductCode } from '../model/products.ts';
import type { ProviderText, ReportOutcome } from '../model/report-outcome.ts';
import { isTraceNumber } from '../model/trace-number.ts';
import { isGiven } from './entry-meanings.ts';
import type { ResponseEnvelope } from './envelope.ts';
import type { GatewayProfile } from './profile.ts';
import type { GatewayRequest } from './requests.ts';
import type { Match } from './who-is-who.ts';

/**
 * The codes that interface 2.4 and 2.8 show. The complete list is not shown (7.3): a person decides about every other
 * code, unless the profile's `returnCodes` map it.
 */
const SHOWN_CODES: ReadonlyMap<string, ReportOutcome> = new Map([
  ['Record', 'record'],
  ['No Record', 'noRecord'],
]);

/** Interface 2.7 shows `Record` alone, and only that means posted (docs/protocol.md). */
const SECOND_USE_CODES: ReadonlyMap<string, ReportOutcome> = new Map([['Record', 'record']]);

/**
 * The meaning of a `returnCode` for a product, the profile's own table first; `undefined` where neither table has it.
 */
export function findOutcome(
  returnCode: string,
  product: ProductCode,
  profile: Pick<GatewayProfile, 'returnCodes'>,
): ReportOutcome | undefined {
  const own = profile.returnCodes[product] ?? {};
  const shown = product === 'SECONDUSE' ? SECOND_USE_CODES : SHOWN_CODES;
  const outcome = Object.hasOwn(own, returnCode) ? own[returnCode] : shown.get(returnCode);
  // Any other code of a share needs a person's decision: no setting may turn it into "no record".
  return product === 'SECONDUSE' && outcome !== 'record' ? undefined : outcome;
}

// Details of an answer and its entries. Reasons are known from outside the interface: they are tolerated, and no code
// relies on them.

interface ReturnDetails {
  returnReasonCode?: string;
  said?: ProviderText;
}

type EntryDetails = Omit<AnsweredApplicant, 'applicantId' | 'outcome'>;

/** Appears in status and events, so it must be too short for anything personal. */
const REASON_CODE = /^[A-Za-z0-9]{1,4}$/;

/** Limits the text in references. The answer's own text is stored whole with the report. */
const MOST_CHARACTERS = 200;

/**
 * Reads the details of an answer or of one of its entries. Omits members of an unexpected form: they decide nothing.
 */
export function readReturnDetails(object: JsonObject): ReturnDetails {
  const code = member(object, 'returnReasonCode');
  const shown = typeof code === 'number' ? String(code) : code;
  const [returnReasonDesc, errorMessage] = [readText(object, 'returnReasonDesc'), readText(object, 'errorMessage')];
  const said = {
    ...(returnReasonDesc !== undefined && { returnReasonDesc }),
    ...(errorMessage !== undefined && { errorMessage }),
  };
  return {
    ...(typeof shown === 'string' && REASON_CODE.test(shown) && { returnReasonCode: shown }),
    ...(Object.keys(said).length > 0 && { said }),
  };
}

/**
 * Returns the details of each entry, whose codes, number and `consumerId` have been checked. FAILSAFE names each
 * consumer and its transaction (interface 2.8). A report's `consumerId` is part of the answer's reference; one without
 * a record must be stored too (2.4).
 */
export function entryDetails(
  entries: readonly JsonObject[],
  outcomes: readonly ReportOutcome[],
  { isFailsafe }: { isFailsafe: boolean },
): EntryDetails[] {
  return entries.map((entry, index) => {
    const [returnCode, number, consumerId] = ['returnCode', 'reportReferenceNumber', 'consumerId'].map((name) =>
      member(entry, name),
    );
    const isNamed = isFailsafe || outcomes[index] !== 'record';
    return {
      ...(typeof returnCode === 'string' && returnCode !== '' && { returnCode }),
      ...readReturnDetails(entry),
      ...(isFailsafe && isAlphanumeric(number, 30) && { reportReferenceNumber: number }),
      ...(isNamed && isAlphanumeric(consumerId, 16) && { consumerId }),
    };
  });
}

/**
 * Gives each applicant the details of its entry. An entry that is indistinguishable from another gives its applicant
 * the outcome alone. A `consumerId` that two entries have is given to neither. Both are listed without an applicant.
 */
export function attribute(
  matches: readonly Match[],
  outcomes: readonly ReportOutcome[],
  entries: readonly EntryDetails[],
): { applicants: AnsweredApplicant[]; unattributed: EntryDetails[] } {
  const consumerIds = entries.map(({ consumerId }) => consumerId);
  const unattributed: EntryDetails[] = [];
  const applicants = matches.map(({ applicantId, told }, index) => {
    const entry = entries[index] ?? {};
    const { consumerId, ...others } = entry;
    const applicant = { applicantId, outcome: outcomes[index] ?? 'noReport' };
    if (!told) {
      // The answer's own code says as much as an entry with nothing but a code.
      if (Object.keys(entry).some((name) => name !== 'returnCode')) unattributed.push(entry);
      return applicant;
    }
    if (consumerId === undefined) return { ...applicant, ...others };
    if (consumerIds.indexOf(consumerId) === consumerIds.lastIndexOf(consumerId)) return { ...applicant, ...entry };
    unattributed.push({ consumerId });
    return { ...applicant, ...others };
  });
  return { applicants, unattributed };
}

function readText(object: JsonObject, name: string): string | undefined {
  const text = member(object, name);
  if (typeof text !== 'string') return undefined;
  const readable = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return readable === '' ? undefined : [...readable.slice(0, 2 * MOST_CHARACTERS)].slice(0, MOST_CHARACTERS).join('');
}

// Differences that the caller should know although they decide nothing. They are listed by path and rule, never by
// value.

interface Echo {
  /** The request's own value. */
  sent: string;
  /** Whether another value shows that the answer is to another request. */
  namesAnotherRequest(value: string): boolean;
}

interface ComparedEchoes {
  /** The places where the answer names another request, so that it is no answer to this one. */
  foreign: string[];
  /** The other places where it differs. */
  remarks: Problem[];
}

/**
 * Compares the values that an answer repeats with those of the request. The interface shows no echo in a report or a
 * confirmation (2.4, 2.7), and in FAILSAFE's sample no values (2.8).
 */
export function compareEchoes(envelope: ResponseEnvelope, request: GatewayRequest): ComparedEchoes {
  const echoes = Object.entries(echoesFor(request));
  const places = [{ object: envelope.top, path: '' }];
  for (const [index, object] of envelope.entries.entries()) {
    places.push({ object, path: `/${envelope.listName}/${index}` });
  }
  const compared: ComparedEchoes = { foreign: [], remarks: [] };
  for (const { object, path } of places) {
    for (const [name, { sent, namesAnotherRequest }] of echoes) {
      const given = member(object, name);
      // Accepted: an identifier of digits may come as a JSON number.
      const value = typeof given === 'number' ? String(given) : given;
      if (!isGiven(value) || value === sent) continue;
      const text = typeof value === 'string' ? value.trim() : '';
      const differsInForm = text.toUpperCase() === sent.toUpperCase();
      if (!differsInForm && namesAnotherRequest(text)) {
        compared.foreign.push(`${path}/${name} must be that of the request`);
      } else {
        compared.remarks.push({ path: `${path}/${name}`, rule: 'is not that of the request' });
      }
    }
  }
  return compared;
}

/** The fields of the request that its answer may repeat. */
function echoesFor(request: GatewayRequest): Record<string, Echo> {
  const { customerTraceNumber, productCode } = request;
  // Interface 1 lists the products: another of them is another request. An abbreviation is none of them.
  const product = { sent: productCode, namesAnotherRequest: isProduct };
  if (request.productCode === 'FAILSAFE') {
    // 4.3 and 2.8 do not say whether the number in the answer is the request's: only a number of ours shows that it is
    // another's. Its request names no customer (4.3): what its answer has (2.8) is data.
    return {
      customerTraceNumber: { sent: customerTraceNumber, namesAnotherRequest: isTraceNumber },
      productCode: product,
    };
  }
  return {
    // By 2.3 and 2.6 unique to the request, so any other is another's.
    customerTraceNumber: { sent: customerTraceNumber, namesAnotherRequest: () => true },
    productCode: product,
    customerId: { sent: request.customerId, namesAnotherRequest: () => true },
  };
}

function isProduct(value: string): boolean {
  return (PRODUCTS as readonly string[]).includes(value.toUpperCase());
}

/** The parts of an applicant that have such fields. */
interface GivenFields {
  names: readonly { gen?: string }[];
  addresses?: readonly { line2?: string; zip: string; zip4?: string }[];
}

/**
 * The fields of table 2.3 that an applicant has and that FAILSAFE's sample (4.3) does not show, and so are not sent. The
 * three that the interface itself names as absent are left out here: the identifier, the e-mail
 * address and the IP address.
 */
export function unsentFields(applicants: readonly GivenFields[]): Problem[] {
  const rule = 'was not sent: FAILSAFE has no such field (interface 4.3)';
  return applicants.flatMap(({ names, addresses = [] }, applicant) => {
    const path = `/applicants/${applicant}`;
    const inNames = names.flatMap(({ gen }, index) => (gen === undefined ? [] : [`${path}/names/${index}/gen`]));
    const inAddresses = addresses.flatMap(({ line2, zip, zip4 }, index) => {
      // Nine digits are the five that are sent, and the four of zip4.
      const unsent = { line2, zip4: zip4 ?? (zip.length > 5 ? zip.slice(-4) : undefined) };
      return Object.keys(omitUndefined(unsent)).map((name) => `${path}/addresses/${index}/${name}`);
    });
    return [...inNames, ...inAddresses].map((unsentPath) => ({ path: unsentPath, rule }));
  });
}
