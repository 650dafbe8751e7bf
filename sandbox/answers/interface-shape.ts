/**
 * Brings an answer into exactly the shape that the interface shows, for `--shape interface`. The sandbox's usual answers
 * have more: an `applicantId` in reports, reasons, lists that REFUPD's cross-references point to.
 */

import type { Body } from '../faults/fault.ts';
import type { GatewayRequest } from '../rules/check-request.ts';

type Loose = Record<string, unknown>;

/** FAILSAFE's request names neither (4.3), and yet its answer has both (2.8): the provider's own. */
const HOUSE = { customerId: 'SBXHOUSE01', softwareProviderId: 'SBX1' };

const NAME = ['first', 'middle', 'last', 'firstReportedDate', 'totalOccurrences', 'activeOccurrences', 'refId'];
const ADDRESS = ['line1', 'line2', 'city', 'state', 'zip'];
const CONSUMER = ['names', 'ssn', 'dob', 'addresses', 'accounts'];

/** @param body an answer of `productAnswer` */
export function inInterfaceShape(body: Body, { productCode }: GatewayRequest): Body {
  if (productCode === 'SECONDUSE') return only(body, ['returnCode', 'reportReferenceNumber']);
  if (productCode === 'FAILSAFE') {
    const consumers = (body.consumers as Loose[]).map((consumer, index) => ({
      ...consumer,
      ...HOUSE,
      reportReferenceNumber: `${consumer.reportReferenceNumber}${index + 1}`,
    }));
    return { consumers };
  }
  const applicants = (body.applicants as Loose[]).map((entry) => {
    const { consumerId, consumer } = entry;
    // Without a record, 2.4 leaves nothing to name the applicant by.
    return consumer ? { consumerId, consumer: shown(consumer as Loose) } : {};
  });
  return { ...only(body, ['returnCode', 'reportReferenceNumber']), applicants };
}

/** 2.4, with 2.5's members where they are: only names show what a RefId refers to. */
function shown(consumer: Loose): Loose {
  return {
    ...only(consumer, CONSUMER),
    names: (consumer.names as Loose[]).map((name) => only(name, NAME)),
    addresses: (consumer.addresses as Loose[]).map((address) => only(address, ADDRESS)),
  };
}

function only(object: Loose, names: readonly string[]): Loose {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)));
}
