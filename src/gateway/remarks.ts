/** What the caller should know of an answer although nothing in it decides: by path and rule, never by value. */
import { defined } from '../base/defined.ts';
import { member } from '../base/json-safety.ts';
import type { Problem } from '../model/problems.ts';
import { PRODUCTS } from '../model/products.ts';
import { isTraceNumber } from '../model/trace-number.ts';
import { isGiven } from './entry-meanings.ts';
import type { ResponseEnvelope } from './envelope.ts';
import type { GatewayRequest } from './requests.ts';

interface Echo {
  /** The request's own value. */
  sent: string;
  /** Whether another value shows that the answer is to another request. */
  namesAnotherRequest(value: string): boolean;
}

interface ComparedEchoes {
  /** The places where the answer names another request: it is no answer to this one. */
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
 * three that the interface itself names as absent are left out here: `applicantId`, `emailAddress` and `ipAddress`.
 */
export function unsentFields(applicants: readonly GivenFields[]): Problem[] {
  const rule = 'was not sent: FAILSAFE has no such field (interface 4.3)';
  return applicants.flatMap(({ names, addresses = [] }, applicant) => {
    const path = `/applicants/${applicant}`;
    const inNames = names.flatMap(({ gen }, index) => (gen === undefined ? [] : [`${path}/names/${index}/gen`]));
    const inAddresses = addresses.flatMap(({ line2, zip, zip4 }, index) => {
      // Nine digits are the five that are sent, and the four of zip4.
      const unsent = { line2, zip4: zip4 ?? (zip.length > 5 ? zip.slice(-4) : undefined) };
      return Object.keys(defined(unsent)).map((name) => `${path}/addresses/${index}/${name}`);
    });
    return [...inNames, ...inAddresses].map((unsentPath) => ({ path: unsentPath, rule }));
  });
}
