/** Faults in the content of an answer: the inquiry has been posted. */
import { z } from 'zod';
import { any, changeSsn, report, setEverywhere, withEntries, without, withoutEverywhere } from './answer-parts.ts';
import { type Body, type ContentFault, type OutcomeFault, parseWholeNumber } from './fault.ts';
import { VARIANTS, withApplicantIds } from './variants.ts';

/** Belongs to no applicant: every SSN of a request starts with 9. */
const STRANGER_SSN = '900000000';

/** As the caller makes them: of another form it would not show that the answer is another request's (interface 2.8). */
const OTHER_TRACE_NUMBER = 'CRAAAAAAAAAAAAAAAAAAAAAAAA00';

const WRONG: readonly ContentFault[] = [
  any('wrongShape', 'JSON of another shape: an array', (body) => [body] as unknown as Body),
  any('withoutReturnCode', 'no returnCode', (body) => withoutEverywhere(body, 'returnCode')),
  any('withoutReference', 'no reportReferenceNumber', (body) => withoutEverywhere(body, 'reportReferenceNumber')),
  report('withoutConsumerId', 'no consumerId', (body) =>
    withEntries(body, (entries) => entries.map((entry) => without(entry, 'consumerId'))),
  ),
  report('missingApplicant', 'the last applicant is not in the answer', (body) =>
    withEntries(body, (entries) => entries.slice(0, -1)),
  ),
  report('extraApplicant', 'one applicant more than was asked for', (body) =>
    withEntries(body, (entries) => [
      ...entries,
      { ...changeSsn(entries[0] ?? {}, () => STRANGER_SSN), applicantId: 'ZZ' },
    ]),
  ),
  report('repeatedApplicant', 'the first applicant in the place of every other', (body) =>
    withEntries(body, (entries) => entries.map(() => entries[0] ?? {})),
  ),
  report('strangerSsn', 'the first consumer has an SSN that nobody in the request has', (body) =>
    withEntries(body, (entries) =>
      entries.map((entry, index) => (index === 0 ? changeSsn(entry, () => STRANGER_SSN) : entry)),
    ),
  ),
  report(
    'swappedSsns',
    "each applicantId with the next applicant's consumer (with one applicant: a stranger's SSN)",
    (body, request) =>
      withEntries(body, (entries) => {
        if (entries.length < 2) return entries.map((entry) => changeSsn(entry, () => STRANGER_SSN));
        const named = withApplicantIds(entries, request);
        return named.map(({ applicantId }, index) => ({ ...entries[(index + 1) % entries.length], applicantId }));
      }),
  ),
  any('otherTraceNumber', 'echoes a customerTraceNumber that was not sent', (body) =>
    setEverywhere(body, 'customerTraceNumber', OTHER_TRACE_NUMBER),
  ),
  any('otherProduct', 'echoes a productCode that was not sent', (body, request) =>
    setEverywhere(body, 'productCode', request.productCode === 'CR' ? 'PREQUAL' : 'CR'),
  ),
  any('otherCustomer', 'echoes a customerId that was not sent', (body) =>
    setEverywhere(body, 'customerId', 'SOMEBODYELSE'),
  ),
  report('severalReferences', 'a reportReferenceNumber of its own for each applicant beside the top one', (body) =>
    withEntries(body, (entries) =>
      entries.map((entry, index) => ({ ...entry, reportReferenceNumber: `SBXOTHERREFERENCE${index + 1}` })),
    ),
  ),
];

/** The report itself gets more tradelines when it is made: `change` has nothing to do. */
export const LARGE_REPORT: ContentFault = {
  name: 'largeReport',
  stage: 'content',
  products: 'reports',
  what: 'reports with many tradelines',
  params: { accounts: parseWholeNumber('tradelines per consumer', 5_000) },
  change: (body) => body,
};

const returnCode: OutcomeFault = {
  name: 'returnCode',
  stage: 'outcome',
  what: 'answers with this returnCode for every applicant',
  params: { returnCode: z.string().default('Deferred').describe('any text; Record gives out reports') },
  returnCode: (params) => String(params.returnCode),
};

export const CONTENT_FAULTS = [returnCode, ...WRONG, ...VARIANTS, LARGE_REPORT] as const;
