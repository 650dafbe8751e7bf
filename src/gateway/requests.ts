/**
 * The bodies of requests to the gateway, one builder per kind of product. Each throws `InvalidInputError` whose
 * problems point into the caller's own fields. A builder returns exactly what goes over the wire.
 */

import type { z } from 'zod';
import { omitUndefined } from '../base/defined.ts';
import { findApplicantLimitProblems } from '../fields/applicant-schemas.ts';
import { parseWith } from '../fields/problems.ts';
import {
  failsafeInputSchema,
  type ReportRequest,
  reportRequestSchema,
  secondUseInputSchema,
} from '../fields/request-schemas.ts';
import type { ReportReference } from '../model/report-outcome.ts';
import type { GatewayProfile } from './profile.ts';

export type { ReportRequest } from '../fields/request-schemas.ts';
export type SecondUseRequest = ReturnType<typeof buildSecondUseRequest>;
type FailsafeRequest = ReturnType<typeof buildFailsafeRequest>;
export type GatewayRequest = ReportRequest | SecondUseRequest | FailsafeRequest;

/** The fields of a request that its caller gives: the profile has the others. */
type Parts<Request extends object> = Omit<Request, keyof Customer> & { profile: GatewayProfile };
type Customer = Pick<GatewayProfile, 'customerId' | 'softwareProviderId'>;

export type ReportRequestParts = Parts<ReportRequest>;

/** Builds a request for any of `REPORT_PRODUCTS` (interface 2.3, 4.2.1). */
export function buildReportRequest(parts: ReportRequestParts): ReportRequest {
  const { profile, ...fields } = parts;
  const body = { ...fields, customerId: profile.customerId, softwareProviderId: profile.softwareProviderId };
  const tooMany = findApplicantLimitProblems(fields.applicants, profile.limits.maxApplicants);
  return parseWith(reportRequestSchema, body, '', tooMany);
}

export type SecondUseRequestParts = Parts<z.input<typeof secondUseInputSchema>> & { reference: ReportReference };

/**
 * Builds a SECONDUSE request (interface 2.6, 4.2.2). The original inquiry's instant is written in the profile's time
 * zone, truncated to seconds.
 */
export function buildSecondUseRequest(parts: SecondUseRequestParts) {
  const { profile, ...fields } = parts;
  const { customerId, softwareProviderId } = profile;
  const { maxApplicants } = profile.limits;
  // The schema has not checked it yet.
  const unchecked: ReportReference | null | undefined = fields.reference;
  const tooMany = findApplicantLimitProblems(unchecked?.applicants, maxApplicants, '/reference/applicants');
  const input = { ...fields, customerId, softwareProviderId };
  const { reference, originalInquiryAt, ...given } = parseWith(secondUseInputSchema, input, '', tooMany);
  return {
    customerId,
    customerTraceNumber: given.customerTraceNumber,
    ...omitUndefined({ endUserCode: given.endUserCode, endUser: given.endUser }),
    productCode: 'SECONDUSE' as const,
    permissiblePurposeCode: given.permissiblePurposeCode,
    softwareProviderId,
    // Interface 4.2, rule 1.
    accessMethod: 'ID' as const,
    originalInquiryDate: writeDate(originalInquiryAt, profile.timeZone),
    reportReferenceNumber: reference.reportReferenceNumber,
    applicants: reference.applicants,
  };
}

export type FailsafeRequestParts = z.input<typeof failsafeInputSchema>;

/** Builds a FAILSAFE request: the fields of the sample in interface 4.3 and no others. */
export function buildFailsafeRequest(parts: FailsafeRequestParts) {
  const { customerTraceNumber, applicants } = parseWith(failsafeInputSchema, parts);
  return {
    customerTraceNumber,
    productCode: 'FAILSAFE' as const,
    applicants: applicants.map(({ names, dob, ssn, phones, addresses }) => ({
      names: names.map(({ first, last, middle }) => ({ first, last, ...omitUndefined({ middle }) })),
      dob,
      ssn,
      phones,
      addresses: addresses.map(({ addressIdentifier, line1, city, state, zip }) => ({
        addressIdentifier,
        line1,
        city,
        state,
        zip,
      })),
    })),
  };
}

/** `originalInquiryDate` may not be in the future (interface 4.2, rule 2). The margin allows for clocks that differ. */
export const ORIGINAL_INQUIRY_MARGIN_MS = 5_000;

/** A clock that is set back reads earlier for an hour than it did before: what it reads now, less the margin, counts. */
function writeDate(instant: Date, timeZone: string): string {
  const now = new Date();
  const toReading = (at: Date) => readWallClock(at, timeZone);
  const beforeReading = new Date(Date.parse(`${toReading(now).replace(' ', 'T')}Z`) - ORIGINAL_INQUIRY_MARGIN_MS);
  // A clock that is set forward never reads what that last one may be.
  const beforeNow = new Date(now.getTime() - ORIGINAL_INQUIRY_MARGIN_MS);
  return [toReading(instant), toReading(beforeNow), readWallClock(beforeReading, 'UTC')].toSorted()[0] as string;
}

/** `YYYY-MM-DD HH:MM:SS` in local time of the zone. Truncated, since rounding up could lie in the future. */
function readWallClock(instant: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  const part = new Map(format.formatToParts(instant).map(({ type, value }) => [type, value]));
  const date = `${part.get('year')?.padStart(4, '0')}-${part.get('month')}-${part.get('day')}`;
  return `${date} ${part.get('hour')}:${part.get('minute')}:${part.get('second')}`;
}
