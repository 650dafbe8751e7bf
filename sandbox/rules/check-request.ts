/** Checks a request against field tables and rules. A valid request gets the shape that the rest of the sandbox uses. */
import { checkTable, isObject, type Judging, type Problem } from './table.ts';
import { FAILSAFE_REQUEST, REPORT_PRODUCTS, REPORT_REQUEST, SECONDARY_USE_REQUEST } from './tables.ts';

export interface RequestName {
  first: string;
  middle?: string;
  last: string;
  gen?: string;
}

export interface RequestAddress {
  line1: string;
  line2?: string;
  city: string;
  state: string;
  zip: string;
}

export interface RequestApplicant {
  applicantId?: string;
  names: RequestName[];
  ssn: string;
  dob: string;
  addresses: RequestAddress[];
}

interface Common {
  customerTraceNumber: string;
  productCode: string;
  customerId?: string;
  softwareProviderId?: string;
  endUserCode?: string;
}

/** Any product that carries applicants by SSN: interface 2.3 and 4.3. */
export interface ConsumerRequest extends Common {
  applicants: RequestApplicant[];
}

/** Interface 2.6. */
export interface SecondaryUseRequest extends Common {
  productCode: 'SECONDUSE';
  endUser?: string;
  reportReferenceNumber: string;
  applicants: { consumerId: string }[];
}

export type GatewayRequest = ConsumerRequest | SecondaryUseRequest;

export function isSecondaryUse(request: GatewayRequest): request is SecondaryUseRequest {
  return request.productCode === 'SECONDUSE';
}

/** The request, or every rule that it breaks. */
export function checkRequest(body: unknown, judging: Judging): { request: GatewayRequest } | { problems: Problem[] } {
  const problems = problemsOf(body, judging);
  // The checks above cover every field that `GatewayRequest` names, which the type system cannot see.
  return problems.length > 0 ? { problems } : { request: body as GatewayRequest };
}

function problemsOf(body: unknown, judging: Judging): Problem[] {
  if (!isObject(body)) return [{ path: '', rule: 'object' }];
  const product = body.productCode;
  if (product === undefined) return [{ path: '/productCode', rule: 'required' }];
  if (typeof product !== 'string') return [{ path: '/productCode', rule: 'string' }];
  if (product === 'FAILSAFE') return checkTable(body, FAILSAFE_REQUEST, judging);
  if (product === 'SECONDUSE') return secondaryUseProblems(body, judging);
  if (REPORT_PRODUCTS.includes(product)) return checkTable(body, REPORT_REQUEST, judging);
  return [{ path: '/productCode', rule: 'unknownProduct' }];
}

function secondaryUseProblems(body: Record<string, unknown>, judging: Judging): Problem[] {
  const problems = checkTable(body, SECONDARY_USE_REQUEST, judging);
  // Interface 4.2, rule 5.
  if (body.endUserCode === undefined && body.endUser === undefined) {
    problems.push({ path: '', rule: 'oneOfRequired:endUserCode,endUser' });
  }
  return problems;
}
