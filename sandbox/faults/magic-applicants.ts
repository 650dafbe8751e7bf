/**
 * The fault of an applicant, by the last four digits of the SSN. 0000 to 4999 concern every product that carries an
 * SSN. With 5000 added, the same fault concerns only a SECONDUSE that names this consumer: a journey gets that far.
 */
import { befalls, requestFault } from './catalogue.ts';
import type { Params } from './fault.ts';
import { meaning } from './magic-codes.ts';
import { REDIRECTED } from './statuses.ts';

export interface MagicFault {
  fault: string;
  params?: Params;
  /** Happens to the first request of each trace number only; the next one succeeds. */
  firstOnly: boolean;
}

/** 4000 to 4999, each once per trace number. */
const ONCE: ReadonlyMap<number, { fault: string; params?: Params }> = new Map<
  number,
  { fault: string; params?: Params }
>([
  [4001, { fault: 'resetBeforePosting' }],
  [4002, { fault: 'resetAfterPosting' }],
  [4003, { fault: 'closeBeforePosting' }],
  [4004, { fault: 'closeAfterPosting' }],
  [4005, { fault: 'finMidBody' }],
  [4006, { fault: 'resetMidBody' }],
  [4007, { fault: 'hangBeforePosting' }],
  [4008, { fault: 'hangAfterPosting' }],
  [4009, { fault: 'hangMidBody' }],
  [4010, { fault: 'slowBeforePosting' }],
  [4011, { fault: 'slowAfterPosting' }],
  [4012, { fault: 'trickle' }],
  [4013, { fault: 'notHttp' }],
  [4014, { fault: 'truncatedJson' }],
  [4015, { fault: 'oversized' }],
  [4016, { fault: 'oversized', params: { compressed: true } }],
  [4017, { fault: 'undecodable' }],
  [4018, { fault: 'notJson' }],
  [4019, { fault: 'emptyBody' }],
  [4020, { fault: 'wrongShape' }],
  [4021, { fault: 'withoutReturnCode' }],
  [4022, { fault: 'withoutReference' }],
  [4023, { fault: 'withoutConsumerId' }],
  [4024, { fault: 'missingApplicant' }],
  [4025, { fault: 'extraApplicant' }],
  [4026, { fault: 'repeatedApplicant' }],
  [4027, { fault: 'strangerSsn' }],
  [4028, { fault: 'swappedSsns' }],
  [4029, { fault: 'otherTraceNumber' }],
  [4030, { fault: 'otherProduct' }],
  [4031, { fault: 'otherCustomer' }],
  [4032, { fault: 'severalReferences' }],
  [4040, { fault: 'consumersArray' }],
  [4043, { fault: 'withoutIdentity' }],
  [4044, { fault: 'maskedSsns' }],
  [4045, { fault: 'dashedSsns' }],
  [4046, { fault: 'reversedApplicants' }],
  [4047, { fault: 'echoes' }],
  [4048, { fault: 'unknownFields' }],
  [4049, { fault: 'largeReport' }],
  [4050, { fault: 'returnReasons' }],
  [4051, { fault: 'applicantIds' }],
  [4052, { fault: 'consumerIds' }],
  [4053, { fault: 'failsafeRecords' }],
  [4054, { fault: 'failsafeSsns' }],
  [4055, { fault: 'referenceLists' }],
  [4429, { fault: 'status', params: { status: 429, retryAfterDateSeconds: 2 } }],
  [4430, { fault: 'status', params: { status: 429 } }],
  [4503, { fault: 'status', params: { status: 503, retryAfter: 1 } }],
]);

/** The fault of a request in which one consumer's SSN ends in these digits. */
export function magicFault(lastFour: string, productCode: string): MagicFault | undefined {
  const digits = meaning(lastFour, productCode);
  if (digits === undefined) return undefined;
  const found = byStatus(digits) ?? once(digits);
  const fault = found && requestFault(found.fault);
  return fault && befalls(fault, productCode) ? found : undefined;
}

function once(digits: number): MagicFault | undefined {
  const found = ONCE.get(digits);
  return found && { ...found, firstOnly: true };
}

/** 1sss, 2sss and 3sss: a status in the digits themselves. */
function byStatus(digits: number): MagicFault | undefined {
  const status = digits % 1000;
  if (status < 300 || status > 599) return undefined;
  const redirect = status < 400;
  switch (Math.floor(digits / 1000)) {
    case 1:
      return { fault: redirect ? 'redirect' : 'status', params: { status }, firstOnly: false };
    case 2:
      return {
        fault: 'statusAfterPosting',
        params: { status, ...(redirect && { location: REDIRECTED }) },
        firstOnly: true,
      };
    case 3:
      if (status === 401) return { fault: 'tokenRefusedUntilRenewed', firstOnly: false };
      if (status === 429) return { fault: 'status', params: { status, retryAfter: 1 }, firstOnly: true };
      return { fault: redirect ? 'redirect' : 'status', params: { status }, firstOnly: true };
    default:
      return undefined;
  }
}

/** The applicants of one fault each, for `GET /_sandbox/faults`. docs/sandbox.md has the others. */
export function describeMagicApplicants() {
  return [...ONCE].map(([digits, found]) => ({ ssnLast4: String(digits), ...found }));
}
