/** "No share is posted without standing consent", and what was said about consent is kept. */
import { isForUser } from '../../../src/model/stage-end-user.ts';
import type {
  ConsentHeard,
  Evidence,
  LedgerAttempt,
  LedgerConsent,
  LedgerInquiry,
  RunEvidence,
  Submission,
} from '../evidence.ts';
import { InquiryIndex } from './inquiry-index.ts';
import type { Invariant } from './invariant.ts';
import { latestRuns } from './latest-runs.ts';

/** A consent as the ledger or a run's history has it. `order` is the order in which that source received it. */
interface Said {
  consentId: string;
  decision: LedgerConsent['decision'];
  decidedAtMs: number;
  order: number;
}

/** The ledger's clock and the world's are compared once, at the end. */
const CLOCK_SLACK_MS = 500;
/** Messages dated further ahead than this are refused (docs/journeys.md). */
const FUTURE_TOLERANCE_MS = 5 * 60_000;

/**
 * Written anew from docs/journeys.md: a denial ends what was granted before it; a revocation ends the grant of its own
 * id; one that names no grant known by then ends every grant there is, and those decided before it.
 */
function stands(grant: Said, all: readonly Said[]): boolean {
  return !all.some((other) => {
    if (other.decision === 'granted') return false;
    if (other.consentId === grant.consentId) return true;
    if (other.decision === 'denied') return other.decidedAtMs >= grant.decidedAtMs;
    const namesGrant = all.some(
      ({ decision, consentId, order }) =>
        decision === 'granted' && consentId === other.consentId && order < other.order,
    );
    return !namesGrant && (other.order > grant.order || other.decidedAtMs >= grant.decidedAtMs);
  });
}

export const standingConsent: Invariant = {
  name: 'no share is claimed without the standing consent of everybody concerned',
  judge(evidence) {
    const index = new InquiryIndex(evidence);
    const failures: string[] = [];
    let count = 0;
    for (const run of evidence.runs) {
      for (const submission of run.submissions) {
        if (submission.productCode !== 'SECONDUSE') continue;
        const { customerTraceNumber } = submission;
        const claimed = index
          .attempts(customerTraceNumber)
          .find(({ attempt, runId }) => attempt === submission.attempt && runId === run.runId);
        if (!claimed || claimant(run, claimed) !== submission) continue;
        count++;
        const name = `${index.stepOf(customerTraceNumber)} attempt ${claimed.attempt}`;
        failures.push(...claimProblems(submission, run, claimed, evidence).map((problem) => `${name}: ${problem}`));
      }
    }
    return { count, failures };
  },
};

/** An attempt that had to wait before its claim was scheduled more than once: the claim has the grants of its own. */
function claimant({ submissions }: RunEvidence, claimed: LedgerAttempt): Submission | undefined {
  const { customerTraceNumber, attempt, consents } = claimed;
  const scheduled = submissions.filter(
    (one) => one.customerTraceNumber === customerTraceNumber && one.attempt === attempt,
  );
  const hasGrants = (one: Submission) =>
    consents.every(({ applicantId, consentId }) =>
      one.consents.some((grant) => grant.applicantId === applicantId && grant.consentId === consentId),
    );
  return scheduled.findLast(hasGrants) ?? scheduled.at(-1);
}

function claimProblems(
  submission: Submission,
  run: RunEvidence,
  claimed: LedgerAttempt,
  { ledger, runs }: Evidence,
): string[] {
  const inquiry = ledger.inquiries.find((one) => one.customerTraceNumber === submission.customerTraceNumber);
  if (submission.applicantIds.length === 0) return ['concerns nobody'];
  return submission.applicantIds.flatMap((applicantId) => {
    const linked = claimed.consents.find((consent) => consent.applicantId === applicantId);
    if (!linked) return [`no grant of ${applicantId} permits it`];
    const isOfShare = (row: LedgerConsent) =>
      row.journeyId === inquiry?.runKey && row.shareId === submission.shareId && row.applicantId === applicantId;
    const known = ledger.consents.filter(isOfShare);
    const messages = heardBefore(heardBy(run, submission.eventId, runs), { ...submission, applicantId });
    const heard = messages.map((said) => ({ ...said, order: Math.min(said.order, firstReceived(said, known)) }));
    // A share by itself reads all of it in the ledger, a journey the grants that were given before it was started.
    const rows = inquiry
      ? readBefore(ledger.consents, inquiry, claimed).filter(
          ({ decision }) => inquiry.workflowType === 'shareReport' || decision === 'granted',
        )
      : [];
    const said = [...heard, ...rows.filter((row) => row.applicantId === applicantId).map(saidOf)];
    const grant = said.find(({ consentId, decision }) => consentId === linked.consentId && decision === 'granted');
    if (!grant) return [`${applicantId} had not granted it by then`];
    const row = known.find(({ consentId, decision }) => consentId === linked.consentId && decision === 'granted');
    if (!row) return [`the grant of ${applicantId} is not in the ledger`];
    if (!inquiry || !isForUser(row, inquiry)) return [`the grant of ${applicantId} is for another secondary user`];
    return stands(grant, said) ? [] : [`the grant of ${applicantId} did not stand any more`];
  });
}

/** While no run was open, the ledger may have received a message that the run receives again. */
function firstReceived(said: Said, known: readonly LedgerConsent[]): number {
  const row = known.find(({ consentId, decision }) => consentId === said.consentId && decision === said.decision);
  return row ? Date.parse(row.receivedAt) : Number.POSITIVE_INFINITY;
}

/** By the runs that handed over to this one, too: all of it came before. */
function heardBy(run: RunEvidence, before: number, runs: readonly RunEvidence[]): ConsentHeard[] {
  const own = run.consents.filter(({ eventId }) => eventId < before);
  const earlier = runs.find(({ runId }) => runId === run.continuedFrom);
  return earlier ? [...heardBy(earlier, Number.POSITIVE_INFINITY, runs), ...own] : own;
}

/** One key is one message: what repeats it changes nothing. */
function heardBefore(
  consents: readonly ConsentHeard[],
  { shareId, applicantId }: { shareId?: string; applicantId: string },
): Said[] {
  const said = new Map<string, Said>();
  for (const heard of consents) {
    if (heard.shareId !== shareId || heard.applicantId !== applicantId) continue;
    if (heard.decidedAtMs > heard.atMs + FUTURE_TOLERANCE_MS) continue;
    const { consentId, decision, decidedAtMs } = heard;
    const key = `${decision} ${consentId}`;
    if (!said.has(key)) said.set(key, { consentId, decision, decidedAtMs, order: heard.atMs + heard.eventId / 1_000 });
  }
  return [...said.values()];
}

/** A share by itself reads the ledger before each attempt. Only the ledger has earlier consents. */
function readBefore(
  rows: readonly LedgerConsent[],
  { runKey, shareId }: LedgerInquiry,
  { claimedAtMs }: LedgerAttempt,
): LedgerConsent[] {
  return rows.filter((row) => row.journeyId === runKey && row.shareId === shareId && row.recordedAtMs < claimedAtMs);
}

export const noClaimAgainstRefusal: Invariant = {
  name: 'no share is claimed against a refusal that the ledger had by then',
  judge(evidence) {
    const index = new InquiryIndex(evidence);
    const shares = evidence.ledger.attempts.filter(({ consents }) => consents.length > 0);
    const failures = shares.flatMap(({ customerTraceNumber, attempt, claimedAtMs, consents }) => {
      const runKey = index.inquiries.get(customerTraceNumber)?.runKey;
      const problems = consents.filter(({ shareId, applicantId, consentId }) => {
        const rows = evidence.ledger.consents.filter(
          (row) => row.journeyId === runKey && row.shareId === shareId && row.applicantId === applicantId,
        );
        const grant = rows.find((row) => row.consentId === consentId && row.decision === 'granted');
        // A grant is written with its claim: refusals alone have to be older.
        const known = rows.filter((row) => row.decision === 'granted' || row.recordedAtMs < claimedAtMs);
        return grant !== undefined && !stands(saidOf(grant), known.map(saidOf));
      });
      return problems.map(
        ({ applicantId }) => `${index.stepOf(customerTraceNumber)} attempt ${attempt}: refused by ${applicantId}`,
      );
    });
    return { count: shares.length, failures };
  },
};

function saidOf({ consentId, decision, decidedAt, receivedAt }: LedgerConsent): Said {
  return { consentId, decision, decidedAtMs: Date.parse(decidedAt), order: Date.parse(receivedAt) };
}

export const refusalAfterPosting: Invariant = {
  name: 'a refusal after posting is brought to a person',
  judge(evidence) {
    const index = new InquiryIndex(evidence);
    const runs = latestRuns(evidence);
    const posted = new Set(evidence.sandbox.postings.map(({ customerTraceNumber }) => customerTraceNumber));
    const failures: string[] = [];
    let count = 0;
    for (const inquiry of index.inquiries.values()) {
      const { customerTraceNumber, runKey, shareId, workflowType } = inquiry;
      const run = runs.get(runKey);
      if (workflowType !== 'lendingJourney') continue;
      if (shareId === undefined || !posted.has(customerTraceNumber) || run?.status !== 'COMPLETED') continue;
      const rows = evidence.ledger.consents.filter((row) => row.journeyId === runKey && row.shareId === shareId);
      const links = index.attempts(customerTraceNumber).flatMap(({ consents }) => consents);
      const isRefused = links.some(({ applicantId, consentId }) => {
        const mine = rows.filter((row) => row.applicantId === applicantId);
        const grant = mine.find((row) => row.consentId === consentId && row.decision === 'granted');
        return grant !== undefined && !stands(saidOf(grant), mine.map(saidOf));
      });
      if (!isRefused) continue;
      // Another grant may replace it.
      if (hasFreshGrants(rows, links)) continue;
      count++;
      const share = run.result?.shares.find((one) => one.shareId === shareId);
      const open = evidence.ledger.open.find((one) => one.customerTraceNumber === customerTraceNumber);
      const isShown = share?.attention !== undefined || open?.attention.includes('revokedAfterPosting');
      if (!isShown) failures.push(`${index.stepOf(customerTraceNumber)}: refused after posting, and nobody is told`);
    }
    return { count, failures };
  },
};

function hasFreshGrants(rows: readonly LedgerConsent[], links: readonly { applicantId: string }[]): boolean {
  return links.every(({ applicantId }) => {
    const mine = rows.filter((row) => row.applicantId === applicantId).map(saidOf);
    return mine.some((one) => one.decision === 'granted' && stands(one, mine));
  });
}

export const consentsKept: Invariant = {
  name: 'every acknowledged consent was in the ledger by then, and none is there that was not sent',
  judge({ consentsSent, ledger }) {
    const keyOf = (of: {
      journeyId: string;
      shareId: string;
      applicantId: string;
      consentId: string;
      decision: string;
    }) => [of.journeyId, of.shareId, of.applicantId, of.consentId, of.decision].join(' ');
    const kept = new Map(ledger.consents.map((row) => [keyOf(row), row]));
    const sent = new Set(consentsSent.map(({ message }) => keyOf(message)));
    const acknowledged = consentsSent.filter(({ acknowledgedAtMs }) => acknowledgedAtMs !== undefined);
    const failures = [
      ...acknowledged.flatMap(({ message, acknowledgedAtMs = 0 }) => {
        const row = kept.get(keyOf(message));
        if (!row) return [`${keyOf(message)}: lost`];
        const isLate = row.recordedAtMs > acknowledgedAtMs + CLOCK_SLACK_MS;
        return isLate ? [`${keyOf(message)}: acknowledged before the ledger had it`] : [];
      }),
      ...[...kept.keys()].filter((key) => !sent.has(key)).map((key) => `${key}: nobody sent it`),
    ];
    return { count: acknowledged.length + kept.size, failures: [...new Set(failures)] };
  },
};
