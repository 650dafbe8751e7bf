/** Applicants whose every field can be found again, and a client that sends them in place of whomever a test names. */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { Applicant } from '../../../src/model/applicant.ts';
import type { Sentinel } from '../sentinels.ts';

type Person = Omit<Applicant, 'applicantId' | 'ssn'>;

const ZEBULONIX: Person = {
  names: [
    { first: 'Zebulonix', middle: 'Quorvane', last: 'Mistralogue', gen: 'Q' },
    { first: 'Yolantrice', last: "O'Umberfeldt-Krae" },
  ],
  dob: '1937-02-27',
  phones: [
    { phoneNumber: '2025550187', phoneType: 'HOME' },
    { phoneNumber: '3125550164', phoneType: 'WORK' },
  ],
  emailAddress: 'zx.mistral+loans@quibberfen.example.com',
  ipAddress: '2001:db8:4711:beef::17',
  addresses: [
    {
      addressIdentifier: 'C',
      line1: '4711 Sentinelweg',
      line2: 'Flat Ottokar 9',
      city: 'New Zebulonville',
      state: 'ZQ',
      zip: '00544',
      zip4: '0713',
    },
    { addressIdentifier: 'P', line1: 'Rural Route Quellinor', city: 'Vexhampton', state: 'QX', zip: '00501' },
  ],
};

const TANTAMOUNT: Person = {
  names: [{ first: 'Hesperance', middle: 'Wryneck', last: 'Tantamount' }],
  dob: '1941-11-08',
  phones: [{ phoneNumber: '4155550139', phoneType: 'MOBL' }],
  emailAddress: 'h.tantamount@fernquill.example.com',
  ipAddress: '203.0.113.214',
  addresses: [
    { addressIdentifier: 'C', line1: '88 Thistlebrook Row', city: 'Kestrelmouth', state: 'XV', zip: '00391' },
  ],
};

/** The search text of a field with few letters: its JSON member. The letters alone occur everywhere. */
const SHORT_FIELDS = ['gen', 'state', 'zip', 'zip4'];

/** Fields with a small set of codes, which identify no person. */
const NOT_PERSONAL = ['applicantId', 'phoneType', 'addressIdentifier'];

/** The same person under the same `applicantId`; the SSN stays, since its last digits ask for a fault. */
export function disguised({ applicantId, ssn }: Pick<Applicant, 'applicantId' | 'ssn'>): Applicant {
  return { applicantId, ssn, ...(applicantId === '2A' ? TANTAMOUNT : ZEBULONIX) };
}

/** Every field of every one of them. */
export function personSentinels(): Sentinel[] {
  return [ZEBULONIX, TANTAMOUNT].flatMap((person) => fieldsOf(person));
}

function fieldsOf(value: unknown, name = ''): Sentinel[] {
  if (Array.isArray(value)) return value.flatMap((entry) => fieldsOf(entry, name));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([member, inner]) => fieldsOf(inner, member));
  }
  if (typeof value !== 'string' || NOT_PERSONAL.includes(name)) return [];
  const asJson = [`"${name}":"${value}"`, `"${name}": "${value}"`].map((text) => ({ name, value: text }));
  if (!SHORT_FIELDS.includes(name)) return [{ name, value }];
  return value.length < 5 ? asJson : [{ name, value }, ...asJson];
}

/** Values that appear while journeys run: SSNs, references, tokens. */
export class SeenSentinels {
  readonly #seen = new Map<string, Sentinel>();

  get all(): Sentinel[] {
    return [...this.#seen.values()];
  }

  add(name: string, value: string, mayBeIn: Sentinel['mayBeIn'] = []): void {
    this.#seen.set(value, { name, value, mayBeIn });
  }
}

/** Every applicant in what this client sends is one of ours; each SSN and reference is noted. */
export function disguising(seen: SeenSentinels): WorkflowClientInterceptor {
  const all = (values: readonly unknown[]): unknown[] => values.map((value) => replaced(value, seen));
  const options = <T extends { args: unknown[] }>(given: T): T => ({ ...given, args: all(given.args) });
  return {
    start: (input, next) => next({ ...input, options: options(input.options) }),
    startWithDetails: (input, next) => next({ ...input, options: options(input.options) }),
    signal: (input, next) => next({ ...input, args: all(input.args) }),
    signalWithStart: (input, next) =>
      next({ ...input, options: options(input.options), signalArgs: all(input.signalArgs) }),
    startUpdate: (input, next) => next({ ...input, args: all(input.args) }),
    startUpdateWithStart: (input, next) =>
      next({
        ...input,
        workflowStartOptions: options(input.workflowStartOptions),
        updateArgs: all(input.updateArgs),
      }),
  };
}

function replaced(value: unknown, seen: SeenSentinels): unknown {
  if (Array.isArray(value)) return value.map((entry) => replaced(entry, seen));
  if (typeof value !== 'object' || value === null) return value;
  if (isApplicant(value)) {
    seen.add('ssn', value.ssn);
    return disguised(value);
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (name === 'consumerId') seen.add(name, String(inner));
      if (name === 'reportReferenceNumber') seen.add(name, String(inner), REFERENCE_PLACES);
      return [name, replaced(inner, seen)];
    }),
  );
}

/** Excludes applicants that a test has made invalid on purpose. They stay unchanged. */
function isApplicant(value: object): value is Applicant {
  return 'names' in value && 'ssn' in value && /^\d{9}$/.test(String(value.ssn));
}

/** `status` shows it to those who may decrypt, or read it by a token: it takes the `consumerId` beside it to be used. */
export const REFERENCE_PLACES: Sentinel['mayBeIn'] = ['commandLine'];
