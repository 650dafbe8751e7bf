/** Faults in the content of an answer: the inquiry has been posted. Also variants that a client should accept. */
import type { Body, ContentFault, OutcomeFault } from './fault.ts';

type Entry = Record<string, unknown>;

/** Belongs to no applicant: every SSN of a request starts with 9. */
const STRANGER_SSN = '900000000';

/** As the caller makes them: of another form it would not show that the answer is another request's (interface 2.8). */
const OTHER_TRACE_NUMBER = 'CRAAAAAAAAAAAAAAAAAAAAAAAA00';

function entriesOf(body: Body): Entry[] {
  return (body.applicants ?? body.consumers ?? []) as Entry[];
}

/** The body with each applicant's entry changed, under any name of the product's list. */
function withEntries(body: Body, change: (entries: Entry[]) => Entry[]): Body {
  const name = 'consumers' in body ? 'consumers' : 'applicants';
  return name in body ? { ...body, [name]: change(entriesOf(body)) } : body;
}

function without(entry: Entry, ...names: string[]): Entry {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !names.includes(name)));
}

/** Removes a member at the top, where most products have it, and in FAILSAFE's entries. */
function withoutEverywhere(body: Body, name: string): Body {
  return withEntries(without(body, name), (entries) => entries.map((entry) => without(entry, name)));
}

function setEverywhere(body: Body, name: string, value: string): Body {
  if ('consumers' in body) return withEntries(body, (entries) => entries.map((entry) => ({ ...entry, [name]: value })));
  return { ...body, [name]: value };
}

function changeSsn(entry: Entry, change: (ssn: string) => string): Entry {
  const consumer = entry.consumer as Entry | undefined;
  return consumer ? { ...entry, consumer: { ...consumer, ssn: change(String(consumer.ssn)) } } : entry;
}

function report(name: string, what: string, change: ContentFault['change']): ContentFault {
  return { name, stage: 'content', products: 'reports', what, change };
}

function any(name: string, what: string, change: ContentFault['change']): ContentFault {
  return { name, stage: 'content', what, change };
}

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
    (body) =>
      withEntries(body, (entries) => {
        if (entries.length < 2) return entries.map((entry) => changeSsn(entry, () => STRANGER_SSN));
        return entries.map(({ applicantId }, index) => ({ ...entries[(index + 1) % entries.length], applicantId }));
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

const TOLERABLE: readonly ContentFault[] = [
  report('consumersArray', 'consumers[] in the place of applicants[]', (body) => renameApplicants(body, 'consumers')),
  report('capitalConsumers', 'Consumers[] in the place of applicants[]', (body) => renameApplicants(body, 'Consumers')),
  report('withoutApplicantIds', 'no applicantId: who is who only shows by SSN', (body) =>
    withEntries(body, (entries) => entries.map((entry) => without(entry, 'applicantId'))),
  ),
  report('withoutIdentity', 'neither applicantId nor consumer.ssn', (body) =>
    withEntries(body, (entries) =>
      entries.map((entry) => {
        const rest = without(entry, 'applicantId');
        return rest.consumer ? { ...rest, consumer: without(rest.consumer as Entry, 'ssn') } : rest;
      }),
    ),
  ),
  report('maskedSsns', 'SSNs masked but for the last four digits', (body) =>
    withEntries(body, (entries) => entries.map((entry) => changeSsn(entry, (ssn) => `XXXXX${ssn.slice(-4)}`))),
  ),
  report('dashedSsns', 'SSNs written ddd-dd-dddd', (body) =>
    withEntries(body, (entries) =>
      entries.map((entry) => changeSsn(entry, (ssn) => `${ssn.slice(0, 3)}-${ssn.slice(3, 5)}-${ssn.slice(5)}`)),
    ),
  ),
  report('reversedApplicants', "the applicants in the reverse of the request's order", (body) =>
    withEntries(body, (entries) => entries.toReversed()),
  ),
  any('echoes', 'echoes customerTraceNumber, productCode and customerId as they were sent', (body, request) => {
    const { customerTraceNumber, productCode, customerId } = request;
    return { ...body, customerTraceNumber, productCode, ...(customerId !== undefined && { customerId }) };
  }),
  any('returnReasons', 'a reason beside the return code, and a message that repeats the SSN', (body, request) => {
    const [applicant] = request.applicants as { ssn?: string }[];
    const errorMessage = `Limited file for ${applicant?.ssn ?? 'this consumer'}`;
    return { ...body, returnReasonCode: 'L1', returnReasonDesc: 'Limited file', errorMessage };
  }),
  any('unknownFields', 'fields that the interface does not know, at every level', (body) => ({
    ...withEntries(body, (entries) => entries.map((entry) => ({ ...entry, sandboxExtra: { nested: [1] } }))),
    sandboxExtra: 'extra',
  })),
];

function renameApplicants(body: Body, name: string): Body {
  return 'applicants' in body ? { ...without(body, 'applicants'), [name]: body.applicants } : body;
}

/** The report itself gets more tradelines when it is made: `change` has nothing to do. */
export const LARGE_REPORT: ContentFault = {
  name: 'largeReport',
  stage: 'content',
  products: 'reports',
  what: 'reports with many tradelines',
  params: { accounts: { type: ['number'], default: 5000, what: 'tradelines per consumer' } },
  change: (body) => body,
};

const returnCode: OutcomeFault = {
  name: 'returnCode',
  stage: 'outcome',
  what: 'answers with this returnCode for every applicant',
  params: { returnCode: { type: ['string'], default: 'Deferred', what: 'any text; Record gives out reports' } },
  returnCode: (params) => String(params.returnCode ?? 'Deferred'),
};

export const CONTENT_FAULTS = [returnCode, ...WRONG, ...TOLERABLE, LARGE_REPORT] as const;
