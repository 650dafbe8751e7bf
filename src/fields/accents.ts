/**
 * Spells names and addresses with letters beyond ASCII for the wire. The interface calls them AN, and does not say
 * which characters AN has (2.3). A profile decides; docs/decisions/gateway.md says why `refuse` is the default.
 */
import type { FailsafeApplicant } from '../model/applicant.ts';
import type { Problem } from '../model/problems.ts';

/**
 * - `refuse`: only printable ASCII is sent.
 * - `transliterate`: `José` is sent as `Jose`.
 * - `pass`: `José` is sent unchanged.
 */
export const ACCENTS = ['refuse', 'transliterate', 'pass'] as const;
export type Accents = (typeof ACCENTS)[number];

const BEYOND_ASCII = /[^ -~]/;

/** Combining marks, which remain once a letter has been taken apart. */
const MARKS = /[\u0300-\u036f]/g;

/** The letters, in lower case, and signs that are not a letter of ASCII with marks. */
const SPELLINGS = new Map([
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ø', 'o'],
  ['ß', 'ss'],
  ['ð', 'd'],
  ['đ', 'd'],
  ['þ', 'th'],
  ['ł', 'l'],
  ['ħ', 'h'],
  ['ı', 'i'],
  ['ŋ', 'n'],
  ['’', "'"],
]);

/** The text without accents. A letter that has no spelling in ASCII stays, and is refused where the request is built. */
function withoutAccents(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text;
  return Array.from(text.normalize('NFD').replace(MARKS, ''), spellLetter).join('');
}

function spellLetter(letter: string): string {
  const lower = letter.toLowerCase();
  const spelling = SPELLINGS.get(lower);
  if (spelling === undefined) return letter;
  return letter === lower ? spelling : spelling.toUpperCase();
}

/** The applicants as they are sent: with names and addresses spelled as a run with these `accents` spells them. */
export function spellApplicants<T extends FailsafeApplicant>(applicants: readonly T[], accents: Accents): T[] {
  if (accents !== 'transliterate') return [...applicants];
  return applicants.map((applicant) => ({
    ...applicant,
    names: applicant.names.map((name) => spellTexts(name)),
    addresses: applicant.addresses.map((address) => spellTexts(address)),
  }));
}

function spellTexts<T extends object>(fields: T): T {
  const spelled = Object.entries(fields).map(([name, value]) => {
    return [name, typeof value === 'string' ? withoutAccents(value) : value];
  });
  return Object.fromEntries(spelled) as T;
}

/** The names and addresses that may not be sent as they are, unless a profile passes accents on. */
export function findAccentProblems(applicants: readonly FailsafeApplicant[], accents: Accents): Problem[] {
  if (accents === 'pass') return [];
  const rule =
    accents === 'refuse'
      ? "must be printable ASCII, by the profile's setting accents: the interface says AN without naming the characters"
      : 'must be in letters that have a spelling in ASCII';
  return applicants.flatMap((applicant, index) =>
    (['names', 'addresses'] as const).flatMap((list) =>
      applicant[list].flatMap((fields, at) =>
        Object.entries(fields).flatMap(([name, value]) =>
          typeof value === 'string' && BEYOND_ASCII.test(value)
            ? [{ path: `/applicants/${index}/${list}/${at}/${name}`, rule }]
            : [],
        ),
      ),
    ),
  );
}
