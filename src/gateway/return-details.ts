/**
 * What an answer and its entries say beside their outcomes. Reasons are known beyond the interface: tolerated, and never
 * relied upon.
 */
import { type JsonObject, member } from '../base/json-safety.ts';
import { isAlphanumeric } from '../fields/alphanumeric.ts';
import type { AnsweredApplicant } from '../model/inquiry.ts';
import type { ProviderText, ReportOutcome } from '../model/report-outcome.ts';
import type { Match } from './who-is-who.ts';

export interface ReturnDetails {
  returnReasonCode?: string;
  said?: ProviderText;
}

export type EntryDetails = Omit<AnsweredApplicant, 'applicantId' | 'outcome'>;

/** Told in status and events: so it must be too short for anything personal. */
const REASON_CODE = /^[A-Za-z0-9]{1,4}$/;

/** The answer's own text is stored whole with the report; this is for a reader of the references. */
const MOST_CHARACTERS = 200;

/** Of an answer, or of one of its entries. What is not of the expected form is left out: it decides nothing. */
export function returnDetailsOf(object: JsonObject): ReturnDetails {
  const code = member(object, 'returnReasonCode');
  const shown = typeof code === 'number' ? String(code) : code;
  const [returnReasonDesc, errorMessage] = [textOf(object, 'returnReasonDesc'), textOf(object, 'errorMessage')];
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
 * What each entry says beside its outcome; its codes, number and `consumerId` have been checked. FAILSAFE names each
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
      ...returnDetailsOf(entry),
      ...(isFailsafe && isAlphanumeric(number, 30) && { reportReferenceNumber: number }),
      ...(isNamed && isAlphanumeric(consumerId, 16) && { consumerId }),
    };
  });
}

/**
 * Gives each applicant what its entry says. An entry that cannot be told from another gives its applicant the outcome
 * alone, and a `consumerId` that two entries have is given to neither: these are listed without an applicant.
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

function textOf(object: JsonObject, name: string): string | undefined {
  const text = member(object, name);
  if (typeof text !== 'string') return undefined;
  const readable = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return readable === '' ? undefined : [...readable.slice(0, 2 * MOST_CHARACTERS)].slice(0, MOST_CHARACTERS).join('');
}
