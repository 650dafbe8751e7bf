/** Rules of `requestShare` for the journey's present state. No waiting. */
import { omitUndefined } from '../../base/defined.ts';
import type { RequestShareMessage, ShareInput } from '../../messages/request-share.ts';
import { type MessageRefusal, refuse, refuseDifference } from '../../model/refusals.ts';
import { listOwnUsers, OWN_END_USER } from '../../model/stage-end-user.ts';
import type { AskedWithdrawal, ShareRecord } from '../consent/share-record.ts';
import { checkShareWithdrawal } from '../machine/share-withdrawal.ts';
import type { Journey } from './journey.ts';

const MAX_SHARES = 20;

/** Returns why the share makes no sense now, or `null`; also `null` if it is already known. */
export function checkShareRequest(journey: Journey, message: RequestShareMessage): MessageRefusal | null {
  const { share } = message;
  const known = findShareInput(journey, share.shareId);
  if (known) {
    const { by, reason, replaces } = findSignature(journey, share.shareId);
    // A replacement that only the ledger knows is compared without who and why.
    const isSigned = message.replaces !== undefined && !(replaces !== undefined && by === undefined);
    const sent = isSigned ? { replaces: message.replaces, by: message.by, reason: message.reason } : {};
    const kept = by === undefined ? {} : { replaces, by, reason };
    return refuseDifference('/share/shareId was used', { share: known, ...kept }, { share, ...sent });
  }
  if (journey.isEnding || journey.isClosing) {
    return refuse('ending', 'the journey is ending; a share of its own may follow');
  }
  if (journey.shares.size >= MAX_SHARES) return refuse('notNow', `a journey has at most ${MAX_SHARES} shares`);
  const stages = journey.stages.map(({ status }) => status.productCode);
  if (
    share.endUserCode !== undefined &&
    listOwnUsers(journey.input, share.reportOf, stages).includes(share.endUserCode)
  ) {
    return refuse('notNow', `/share/endUserCode ${OWN_END_USER}`);
  }
  if (share.reportOf !== undefined && !journey.stage(share.reportOf)) {
    return refuse('unknownPart', '/share/reportOf names a stage that this journey leaves out');
  }
  if (share.permissiblePurposeCode === undefined && !journey.input.permissiblePurposeCodes?.SECONDUSE) {
    return refuse('notNow', '/share/permissiblePurposeCode is required: the journey has none for SECONDUSE');
  }
  return checkReplacement(journey, message);
}

/** Returns why a new share cannot replace the one that it names, or `null`. */
function checkReplacement(
  journey: Journey,
  { share: { shareId }, replaces }: RequestShareMessage,
): MessageRefusal | null {
  if (replaces === undefined) return null;
  const share = journey.shares.get(replaces);
  if (!share) return refuse('unknownPart', '/replaces names no share of this journey');
  // After a reset the ledger may know of the very same replacement.
  if (share.withdrawn?.replacedBy === shareId) return null;
  if (share.withdrawn || share.withdrawal) return refuse('notNow', '/replaces names a share that is withdrawn already');
  const objection = checkShareWithdrawal(share);
  return objection && refuse(objection.cause, `/replaces: ${objection.reason}`);
}

export function requireShare(journey: Journey, shareId: string): ShareRecord {
  const share = journey.shares.get(shareId);
  if (!share) throw new Error('a share that its validator knew');
  return share;
}

/** Includes a share that is to replace another, once the ledger has withdrawn that one. */
export function isKnownShare(journey: Journey, shareId: string): boolean {
  return findShareInput(journey, shareId) !== undefined;
}

function findShareInput(journey: Journey, shareId: string): ShareInput | undefined {
  const known = journey.shares.get(shareId)?.input;
  return (
    known ?? [...journey.shares.values()].find((share) => findReplacement(share) === shareId)?.withdrawal?.replacement
  );
}

function findReplacement({ withdrawal, withdrawn }: ShareRecord): string | undefined {
  return withdrawal?.replacement?.shareId ?? withdrawn?.replacedBy;
}

/** Returns the share that this one replaces or is to replace, with who said so and why if this run knows. */
function findSignature(journey: Journey, shareId: string): { replaces?: string; by?: string; reason?: string } {
  const replaced = [...journey.shares.values()].find((share) => findReplacement(share) === shareId);
  if (!replaced) return {};
  const { by, reason } = replaced.withdrawal ?? replaced.withdrawn ?? {};
  return { replaces: replaced.input.shareId, ...omitUndefined({ by, reason }) };
}

/** Returns the withdrawal that must precede the share; `undefined` if none, or if the ledger already has it. */
export function findReplacedShare(
  journey: Journey,
  { share, replaces, by = '', reason = '' }: RequestShareMessage,
): { share: ShareRecord; withdrawal: AskedWithdrawal } | undefined {
  if (replaces === undefined) return undefined;
  const replaced = requireShare(journey, replaces);
  if (replaced.withdrawn) return undefined;
  return { share: replaced, withdrawal: { by, reason, replacement: share } };
}
