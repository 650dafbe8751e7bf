/**
 * Variants of an answer that the interface does not show and that a client should take. A plan gives one to chosen
 * requests, and `--with` gives any number of them to all.
 */
import { withReferenceLists } from '../answers/consumer-report.ts';
import { consumerIdOf } from '../records/records.ts';
import type { GatewayRequest, RequestApplicant } from '../rules/check-request.ts';
import { any, changeSsn, type Entry, report, setEverywhere, withEntries, without } from './answer-parts.ts';
import type { Body, ContentFault } from './fault.ts';
import { magicReturnCode } from './magic-codes.ts';

/** In the order in which `applyVariants` applies them: those that read the request's order come first. */
export const VARIANTS: readonly ContentFault[] = [
  report('applicantIds', "each applicant's own applicantId, for FAILSAFE 1A, 2A, … in the request's order", withIds),
  report('consumerIds', 'a consumerId also for an applicant without a record', (body, request) =>
    withEntries(body, (entries) =>
      entries.map((entry, index) => ({ consumerId: consumerIdOf(ssnAt(request, index)), ...entry })),
    ),
  ),
  failsafe('failsafeRecords', 'FAILSAFE answers Record for everybody whose digits ask for no other code', withRecord),
  failsafe('failsafeSsns', "each entry of FAILSAFE has its consumer's ssn beside the other fields", (entry, ssn) => {
    return { ...entry, ssn };
  }),
  report(
    'referenceLists',
    "REFUPD's addresses, ssns and dobs with the refIds that cross-references point to",
    (body, request) =>
      request.productCode === 'REFUPD' ? withEntries(body, (entries) => entries.map(withLists)) : body,
  ),
  any('echoes', 'echoes customerTraceNumber, productCode and customerId as they were sent', (body, request) => {
    const { customerTraceNumber, productCode, customerId } = request;
    const echoed = Object.entries({ customerTraceNumber, productCode, customerId });
    return echoed.reduce((all, [name, value]) => (value === undefined ? all : setEverywhere(all, name, value)), body);
  }),
  any('returnReasons', 'a reason beside the return code, and a message that repeats the SSN', (body, request) => {
    const [applicant] = request.applicants as { ssn?: string }[];
    const errorMessage = `Limited file for ${applicant?.ssn ?? 'this consumer'}`;
    return { ...body, returnReasonCode: 'L1', returnReasonDesc: 'Limited file', errorMessage };
  }),
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
  any('unknownFields', 'fields that the interface does not know, at every level', (body) => ({
    ...withEntries(body, (entries) => entries.map((entry) => ({ ...entry, sandboxExtra: { nested: [1] } }))),
    sandboxExtra: 'extra',
  })),
  report('consumersArray', 'consumers[] in the place of applicants[]', (body) =>
    'applicants' in body ? { ...without(body, 'applicants'), consumers: body.applicants } : body,
  ),
];

export const VARIANT_NAMES: readonly string[] = VARIANTS.map(({ name }) => name);

/** The answer with each of the named variants that can happen to its product. */
export function applyVariants(names: ReadonlySet<string>, body: Body, request: GatewayRequest): Body {
  return VARIANTS.filter(({ name, products }) => {
    return names.has(name) && !(products === 'reports' && request.productCode === 'SECONDUSE');
  }).reduce((changed, { change }) => change(changed, request, {}), body);
}

/** The entries of an answer in the request's order, each with its applicant's identifier. */
export function withApplicantIds(entries: Entry[], request: GatewayRequest): Entry[] {
  const sent = request.applicants as RequestApplicant[];
  return entries.map((entry, index) => ({ ...entry, applicantId: sent[index]?.applicantId ?? `${index + 1}A` }));
}

function withIds(body: Body, request: GatewayRequest): Body {
  return withEntries(body, (entries) => withApplicantIds(entries, request));
}

/** A change to FAILSAFE's entries alone. */
function failsafe(name: string, what: string, change: (entry: Entry, ssn: string) => Entry): ContentFault {
  return report(name, what, (body, request) => {
    if (request.productCode !== 'FAILSAFE') return body;
    return withEntries(body, (entries) => entries.map((entry, index) => change(entry, ssnAt(request, index))));
  });
}

function ssnAt(request: GatewayRequest, index: number): string {
  return (request.applicants as RequestApplicant[])[index]?.ssn ?? '';
}

function withRecord(entry: Entry, ssn: string): Entry {
  // Any report shows the code that the digits ask for.
  const hasRecord = magicReturnCode(ssn.slice(-4), 'CR') === 'Record';
  return entry.returnCode === 'No Record' && hasRecord ? { ...entry, returnCode: 'Record' } : entry;
}

function withLists(entry: Entry): Entry {
  return entry.consumer ? { ...entry, consumer: withReferenceLists(entry.consumer as Entry) } : entry;
}
