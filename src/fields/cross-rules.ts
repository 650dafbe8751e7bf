/**
 * Rules between fields. They read the raw value, so that one answer reports their problems together with those within
 * fields. zod runs an object's own refinements only when every field is right. Where a field is malformed, a rule that
 * needs it stays silent: the field's own problem is enough.
 */
import { isRecord } from '../base/is-record.ts';
import { ownerOf } from '../model/owner-id.ts';
import type { Problem } from '../model/problems.ts';
import { STAGES, type StageCode } from '../model/products.ts';
import { OWN_END_USER, ownUsersOf } from '../model/stage-end-user.ts';

type Loose = Record<string, unknown>;

export function lendingJourneyProblems(input: Loose): Problem[] {
  const stages = stagesOf(input.stages);
  const shares = Array.isArray(input.shares) ? (input.shares as unknown[]) : [];
  return [
    ...stageOrderProblems(input.stages),
    ...purposeCodeProblems(input.permissiblePurposeCodes, stages, shares),
    ...endUserProblems(input.endUserCodes, stages),
    ...gateProblems(input.gates, stages),
    ...attentionProblems(input, stages),
    ...shares.flatMap((share, index) => shareProblems(share, `/shares/${index}`, { input, stages })),
    ...repeatedProblems(shares, 'shareId', '/shares', 'must differ from that of every other share'),
  ];
}

/** The stages that will run, or `null` where the list is malformed. */
function stagesOf(value: unknown): readonly StageCode[] | null {
  if (value === undefined) return STAGES;
  if (!Array.isArray(value) || !value.every((one) => (STAGES as readonly unknown[]).includes(one))) return null;
  return value as StageCode[];
}

function stageOrderProblems(value: unknown): Problem[] {
  if (!Array.isArray(value)) return [];
  const ranks = value.map((one) => (STAGES as readonly unknown[]).indexOf(one));
  const misplaced = ranks.findIndex((rank, index) => rank >= 0 && ranks.slice(0, index).some((one) => one >= rank));
  if (misplaced < 0) return [];
  return [{ path: `/stages/${misplaced}`, rule: `must keep the order ${STAGES.join(', ')}, without repeats` }];
}

function purposeCodeProblems(codes: unknown, stages: readonly StageCode[] | null, shares: unknown[]): Problem[] {
  if (!isRecord(codes)) return [];
  const problems: Problem[] = (stages ?? [])
    .filter((stage) => codes[stage] === undefined)
    .map((stage) => ({ path: `/permissiblePurposeCodes/${stage}`, rule: 'is required, since the stage is listed' }));
  const needed = shares.some((share) => isRecord(share) && share.permissiblePurposeCode === undefined);
  if (needed && codes.SECONDUSE === undefined) {
    const rule = 'is required, since a share has no permissiblePurposeCode of its own';
    problems.push({ path: '/permissiblePurposeCodes/SECONDUSE', rule });
  }
  return problems;
}

function gateProblems(gates: unknown, stages: readonly StageCode[] | null): Problem[] {
  if (!isRecord(gates) || !stages) return [];
  return (['PREAPP', 'PRECLOSE'] as const)
    .filter((stage) => gates[stage] !== undefined && !stages.includes(stage))
    .map((stage) => ({ path: `/gates/${stage}`, rule: 'must be the gate of a stage that is listed' }));
}

function attentionProblems({ attentionAbove }: Loose, stages: readonly StageCode[] | null): Problem[] {
  if (attentionAbove === undefined || !stages || stages.includes('PRECLOSE')) return [];
  return [{ path: '/attentionAbove', rule: 'needs the stage PRECLOSE' }];
}

function endUserProblems(codes: unknown, stages: readonly StageCode[] | null): Problem[] {
  if (!isRecord(codes) || !stages) return [];
  return STAGES.filter((stage) => codes[stage] !== undefined && !stages.includes(stage)).map((stage) => ({
    path: `/endUserCodes/${stage}`,
    rule: 'must be the end user of a stage that is listed',
  }));
}

function shareProblems(
  share: unknown,
  path: string,
  journey: { input: Loose; stages: readonly StageCode[] | null },
): Problem[] {
  if (!isRecord(share)) return [];
  const problems = secondaryUserProblems(share, path);
  const { input, stages } = journey;
  const own = ownUsersOf(input, share.reportOf, stages ?? STAGES);
  if (typeof share.endUserCode === 'string' && own.includes(share.endUserCode)) {
    problems.push({ path: `${path}/endUserCode`, rule: OWN_END_USER });
  }
  const isStage = (STAGES as readonly unknown[]).includes(share.reportOf);
  if (stages && isStage && !stages.includes(share.reportOf as StageCode)) {
    problems.push({ path: `${path}/reportOf`, rule: 'must be a stage that is listed' });
  }
  return problems;
}

/** Interface 4.2, rule 5. */
function secondaryUserProblems(user: unknown, path: string): Problem[] {
  if (!isRecord(user) || user.endUserCode !== undefined || user.endUser !== undefined) return [];
  return [
    { path: `${path}/endUserCode`, rule: 'is required, unless endUser is given: name endUserCode, endUser or both' },
  ];
}

/** The rules of `shareReport`'s input. The worker checks what only the ledger knows of the report. */
export function shareReportProblems(input: Loose): Problem[] {
  const { report } = input;
  const ownUser = isRecord(report) ? report.endUserCode : undefined;
  const isOwn = typeof ownUser === 'string' && ownUser === input.endUserCode;
  return [
    ...secondaryUserProblems(input, ''),
    ...(isOwn ? [{ path: '/endUserCode', rule: 'must not be the report’s own end user' }] : []),
    ...(isRecord(report) ? referenceProblems(report.reference, '/report/reference') : []),
  ];
}

/** Only a share that replaces another needs a named person and a reason. */
export function requestShareProblems(message: Loose): Problem[] {
  const { share, replaces } = message;
  const isItself = isRecord(share) && typeof replaces === 'string' && share.shareId === replaces;
  return [
    ...secondaryUserProblems(share, '/share'),
    ...(isItself ? [{ path: '/replaces', rule: 'must differ from /share/shareId' }] : []),
    ...signatureProblems(message, 'replaces'),
  ];
}

/** Who and why go with these members, and with no other. */
function signatureProblems(message: Loose, ...members: string[]): Problem[] {
  const { by, reason } = message;
  const decided = members.findLast((member) => message[member] !== undefined);
  return Object.entries({ by, reason }).flatMap(([name, value]) => {
    if ((decided === undefined) === (value === undefined)) return [];
    const rule = value === undefined ? `is required with ${decided}` : `belongs to ${members.join(' and ')} only`;
    return [{ path: `/${name}`, rule }];
  });
}

export function consentProblems(message: Loose): Problem[] {
  const problems = secondaryUserProblems(message.secondaryUser, '/secondaryUser');
  const owner = typeof message.journeyId === 'string' ? ownerOf(message.journeyId) : undefined;
  if (owner?.kind === 'share' && typeof message.shareId === 'string' && owner.id !== message.shareId) {
    problems.push({ path: '/shareId', rule: 'must be the one that journeyId names' });
  }
  if (message.decision === 'granted' && message.evidence === undefined) {
    problems.push({ path: '/evidence', rule: 'is required for a grant' });
  }
  return problems;
}

/** The rules of `advance`. Only to accept an old report, or to skip a stage, needs a named person and a reason. */
export function passGateProblems(message: Loose): Problem[] {
  return signatureProblems(message, 'acceptAge', 'skip');
}

/** The rules of `extend`. */
export function extendProblems({ gate, shareId }: Loose): Problem[] {
  if ((gate === undefined) !== (shareId === undefined)) return [];
  const rule = gate === undefined ? 'is required, unless shareId is given' : 'must not be given beside shareId';
  return [{ path: '/gate', rule }];
}

export function resolveInquiryProblems(message: Loose): Problem[] {
  const problems: Problem[] = [];
  const accepts = message.action === 'accept';
  const amends = message.action === 'amend';
  const withRecord = accepts && message.outcome === 'record';
  if (accepts && message.outcome === undefined) problems.push({ path: '/outcome', rule: 'is required for accept' });
  if (withRecord && message.reference === undefined) {
    problems.push({ path: '/reference', rule: 'is required for accept with a record' });
  }
  if (withRecord && message.providerSaid !== undefined && message.providerSaid !== 'posted') {
    problems.push({ path: '/providerSaid', rule: 'must be posted for accept with a record' });
  }
  if (message.confirmConsumerIds !== undefined && message.reference === undefined) {
    problems.push({ path: '/confirmConsumerIds', rule: 'belongs to a reference only' });
  }
  if (typeof message.action === 'string') {
    if (!accepts && message.outcome !== undefined) problems.push({ path: '/outcome', rule: 'belongs to accept only' });
    if (!withRecord && message.reference !== undefined) {
      problems.push({ path: '/reference', rule: 'belongs to accept with a record' });
    }
    if (!amends && message.applicants !== undefined)
      problems.push({ path: '/applicants', rule: 'belongs to amend only' });
  }
  return [...problems, ...referenceProblems(message.reference)];
}

/** Two applicants with one `consumerId` are a typing error, and would share the wrong person's report. */
function referenceProblems(reference: unknown, path = '/reference'): Problem[] {
  if (!isRecord(reference) || !Array.isArray(reference.applicants)) return [];
  const rule = 'must differ from that of every other applicant';
  return (['applicantId', 'consumerId'] as const).flatMap((field) =>
    repeatedProblems(reference.applicants as unknown[], field, `${path}/applicants`, rule),
  );
}

function repeatedProblems(entries: unknown[], field: string, path: string, rule: string): Problem[] {
  const seen = new Set<unknown>();
  return entries.flatMap((entry, index) => {
    const value = isRecord(entry) ? entry[field] : undefined;
    if (typeof value !== 'string') return [];
    if (seen.has(value)) return [{ path: `${path}/${index}/${field}`, rule }];
    seen.add(value);
    return [];
  });
}
