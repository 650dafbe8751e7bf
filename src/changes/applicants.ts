/** Matches the entries of two reports that concern the same consumer. */

import { isRecord } from '../base/is-record.ts';
import type { Consumer, GatewayResponse } from '../gateway/responses.ts';
import { inOrder, textOf } from './report-text.ts';

/** Everything that one report has about one consumer. */
export interface ApplicantFile {
  consumerId?: string;
  applicantId?: string;
  /** The `consumer` objects; several where the report has several entries for one consumer. */
  consumers: Consumer[];
}

interface MatchedApplicants {
  /** Matched by `consumerId`, then `applicantId`; one side may be missing. */
  matches: { earlier?: ApplicantFile; later?: ApplicantFile }[];
  unidentified: { earlier: number; later: number };
}

/**
 * Matches by `consumerId`, the gateway's own name of the consumer. The rest is matched by `applicantId`, but only where
 * one side has no `consumerId` and no other candidate exists. So two different consumers are never compared. Entries
 * with neither id are matched where each report has exactly one entry.
 */
export function matchApplicants(earlier: GatewayResponse, later: GatewayResponse): MatchedApplicants {
  const before = readFiles(earlier);
  const after = readFiles(later);
  const matches: MatchedApplicants['matches'] = [];
  const pair = (one: ApplicantFile, other: ApplicantFile) => {
    matches.push({ earlier: one, later: other });
    before.files.delete(one);
    after.files.delete(other);
  };
  const byConsumer = new Map([...after.files].map((file) => [file.consumerId, file]));
  for (const one of [...before.files]) {
    const other = one.consumerId === undefined ? undefined : byConsumer.get(one.consumerId);
    if (other) pair(one, other);
  }
  pairByApplicantId(before.files, after.files, pair);
  const [lone] = before.nameless;
  const [other] = after.nameless;
  const isAlone = earlier.applicants.length === 1 && later.applicants.length === 1;
  if (isAlone && (lone || other)) {
    const one = lone ?? [...before.files][0];
    const another = other ?? [...after.files][0];
    if (one && another) pair(one, another);
  }
  for (const file of before.files) matches.push({ earlier: file });
  for (const file of after.files) matches.push({ later: file });
  return {
    matches: matches.sort((one, another) => inOrder(orderOf(one), orderOf(another))),
    unidentified: isAlone
      ? { earlier: 0, later: 0 }
      : { earlier: before.nameless.length, later: after.nameless.length },
  };
}

function pairByApplicantId(
  before: ReadonlySet<ApplicantFile>,
  after: ReadonlySet<ApplicantFile>,
  pair: (one: ApplicantFile, other: ApplicantFile) => void,
): void {
  const ofBefore = Map.groupBy(before, ({ applicantId }) => applicantId);
  const ofAfter = Map.groupBy(after, ({ applicantId }) => applicantId);
  for (const [applicantId, ones] of ofBefore) {
    if (applicantId === undefined) continue;
    const others = ofAfter.get(applicantId) ?? [];
    const [one] = ones;
    const [other] = others;
    if (!one || !other || ones.length > 1 || others.length > 1) continue;
    if (one.consumerId === undefined || other.consumerId === undefined) pair(one, other);
  }
}

/** Joins the entries that name the same consumer into one file. */
function readFiles({ applicants }: GatewayResponse): { files: Set<ApplicantFile>; nameless: ApplicantFile[] } {
  const files = new Map<string, ApplicantFile>();
  const nameless: ApplicantFile[] = [];
  for (const entry of applicants) {
    const consumerId = textOf(entry.consumerId);
    const applicantId = textOf(entry.applicantId);
    const consumers = isRecord(entry.consumer) ? [entry.consumer as Consumer] : [];
    if (consumerId === null && applicantId === null) {
      nameless.push({ consumers });
      continue;
    }
    const key = JSON.stringify(consumerId === null ? [null, applicantId] : [consumerId]);
    const file = files.get(key);
    if (file) {
      file.consumers.push(...consumers);
      // Of several, the first by order of text: the report's own order does not matter.
      const [first] = [file.applicantId, applicantId ?? undefined].filter((id) => id !== undefined).sort(inOrder);
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

function orderOf({ earlier, later }: MatchedApplicants['matches'][number]): string {
  return JSON.stringify([
    later?.consumerId ?? earlier?.consumerId ?? '',
    later?.applicantId ?? earlier?.applicantId ?? '',
  ]);
}
