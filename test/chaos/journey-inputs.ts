/** Makes the messages of platforms and consumers from a journey's plan. */

import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { ShareInput } from '../../src/messages/request-share.ts';
import type { Applicant } from '../../src/model/applicant.ts';
import type { Sentinel } from '../protection/sentinels.ts';
import type { ConsentPlan, JourneyPlan, Plan, SharePlan } from './plan.ts';
import { JOURNEYS_PROFILE } from './profile-files.ts';

export function inputOf(plan: JourneyPlan): LendingJourneyInput {
  const { journeyId, endUserCode, stages, gates, onNoRecord, sharesOpenForSeconds } = plan;
  const gated = stages.slice(1).filter((stage) => stage !== 'PREQUAL');
  return {
    journeyId,
    profile: JOURNEYS_PROFILE,
    endUserCode,
    permissiblePurposeCodes: { PREQUAL: '01', PREAPP: '01', PRECLOSE: '01', SECONDUSE: '02' },
    applicants: applicantsOf(plan.ssns),
    stages,
    gates: Object.fromEntries(gated.map((stage) => [stage, { pass: gates }])),
    onNoRecord,
    shares: plan.shares.filter(({ requestedAtMs }) => requestedAtMs === undefined).map(shareOf),
    ...(sharesOpenForSeconds === undefined ? {} : { sharesOpenFor: `PT${sharesOpenForSeconds}S` }),
  };
}

export function shareOf({ shareId, endUserCode, reportOf }: SharePlan): ShareInput {
  return { shareId, endUserCode, ...(reportOf === undefined ? {} : { reportOf }) };
}

export function applicantsOf(ssns: readonly string[]): Applicant[] {
  return ssns.map((ssn, nth) => ({
    applicantId: `${nth + 1}A`,
    names: [{ first: 'Marigold', last: 'Quillfeather' }],
    ssn,
    dob: '1985-04-12',
    phones: [{ phoneNumber: '2025550147', phoneType: 'MOBL' }],
    emailAddress: `q.${ssn}@example.com`,
    ipAddress: '192.0.2.17',
    addresses: [
      { addressIdentifier: 'C', line1: '12 Sparrowgate Crescent', city: 'Springfield', state: 'IL', zip: '62704' },
    ],
  }));
}

/** The same persons under SSNs that trigger no fault. An operator corrects inquiries to these. */
export function correctedSsns(ssns: readonly string[]): string[] {
  return ssns.map((ssn) => `${ssn.slice(0, 5)}0001`);
}

/** When a consent of now was decided: the servers' clocks may differ by a little. */
export function aMomentAgo(): Date {
  return new Date(Date.now() - 1_000);
}

export function consentOf(
  journeyId: string,
  plan: ConsentPlan,
  shares: readonly SharePlan[],
  at: Date,
): ConsentMessage {
  const { shareId, applicantId, consentId, decision } = plan;
  const endUserCode = shares.find((share) => share.shareId === shareId)?.endUserCode ?? 'EU999';
  return {
    ...{ journeyId, shareId, applicantId, consentId, decision },
    decidedAt: at.toISOString(),
    secondaryUser: { endUserCode },
    ...(decision === 'granted'
      ? { evidence: { method: 'web', textVersion: 'v1', capturedAt: at.toISOString(), reference: 'doc-1' } }
      : {}),
  };
}

/** Values that must be in no log. */
export function sentinelsOf({ journeys, others }: Plan, clientSecret: string): Sentinel[] {
  const people = [...journeys, ...(others?.pulls ?? []), ...(others?.reviews ?? [])];
  return [
    { name: 'a last name', value: 'Quillfeather' },
    { name: 'a first name', value: 'Marigold' },
    { name: 'a street', value: 'Sparrowgate' },
    { name: 'a phone number', value: '2025550147' },
    { name: 'the client secret', value: clientSecret },
    ...people.flatMap(({ ssns }) =>
      [...ssns, ...correctedSsns(ssns)].map((value) => ({ name: 'a social security number', value })),
    ),
  ];
}
