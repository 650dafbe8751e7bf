/** "No inquiry is sent twice without a person's decision": compares the ledger with the sandbox's journal. */
import type { Evidence, SandboxPosting } from '../evidence.ts';
import { InquiryIndex, isReferenceOf } from './inquiry-index.ts';
import type { Invariant } from './invariant.ts';

/** Clocks of the sandbox and of the ledger are the machine's, apart from what the world has set: for the reading. */
const CLOCK_SLACK_MS = 1_000;

export const postedOnce: Invariant = {
  name: 'postings of a request at the most one, and one for each resend and amendment',
  judge(evidence) {
    const index = new InquiryIndex(evidence);
    const requests = Map.groupBy(
      evidence.sandbox.postings,
      ({ customerTraceNumber, digest }) => `${index.stepOf(customerTraceNumber)} ${digest}`,
    );
    const failures: string[] = [];
    for (const postings of requests.values()) {
      const traces = [...new Set(postings.map(({ customerTraceNumber }) => customerTraceNumber))];
      const resends = traces.reduce((sum, trace) => sum + index.resends(trace), 0);
      const amendments = traces.filter((trace) => index.isAmendment(trace)).length;
      // One of them may be the inquiry itself that an amendment led to, with nothing posted before it.
      const isFirstAmended = traces.length === amendments;
      const permitted = 1 + resends + amendments - (isFirstAmended ? 1 : 0);
      if (postings.length <= permitted) continue;
      failures.push(`${index.stepOf(traces[0] ?? '')}: ${postings.length} postings, ${permitted} permitted`);
    }
    // Standing decisions permit another attempt, never another posting: counted for themselves.
    const repeated = evidence.ledger.attempts.filter(({ state }) => state === 'notProcessed').length;
    const remark = `${repeated} attempts ended by a standing decision`;
    return { count: requests.size, failures, ...(repeated > 0 ? { remark } : {}) };
  },
};

export const oneTraceNumber: Invariant = {
  name: 'trace numbers of a stage or share: one, and one for each amendment',
  judge(evidence) {
    const index = new InquiryIndex(evidence);
    const seen = evidence.sandbox.requests.flatMap(({ customerTraceNumber: trace }) => (trace === null ? [] : [trace]));
    const steps = Map.groupBy(new Set([...index.inquiries.keys(), ...seen]), (trace) => index.stepOf(trace));
    const failures: string[] = [];
    for (const [step, traces] of steps) {
      const amendments = traces.filter((trace) => index.isAmendment(trace)).length;
      const permitted = 1 + amendments;
      if (traces.length > permitted) failures.push(`${step}: ${traces.length} trace numbers, ${permitted} permitted`);
    }
    return { count: steps.size, failures };
  },
};

export const oneAttemptOneRequest: Invariant = {
  name: 'every request at the gateway is that of one claimed attempt, sent once, after its claim',
  judge({ sandbox, ...rest }) {
    const index = new InquiryIndex({ sandbox, ...rest });
    const requests = Map.groupBy(
      sandbox.requests.filter(({ customerTraceNumber }) => customerTraceNumber !== null),
      ({ customerTraceNumber }) => String(customerTraceNumber),
    );
    const failures: string[] = [];
    for (const [trace, received] of requests) {
      const sent = index.sent(trace);
      if (received.length > sent.length) {
        failures.push(`${index.stepOf(trace)}: ${received.length} requests, ${sent.length} attempts that sent`);
        continue;
      }
      const inOrder = received.map(({ atMs }) => atMs).toSorted((one, other) => one - other);
      const early = inOrder.some((atMs, nth) => atMs < (sent[nth]?.claimedAtMs ?? 0) - CLOCK_SLACK_MS);
      if (early) failures.push(`${index.stepOf(trace)}: a request before its claim`);
    }
    return { count: sandbox.requests.length, failures };
  },
};

export const oneRequestPerNumber: Invariant = {
  name: 'one trace number, one request: its digest never changes',
  judge({ sandbox }) {
    const digests = Map.groupBy(
      sandbox.requests.filter(({ customerTraceNumber, digest }) => customerTraceNumber !== null && digest !== null),
      ({ customerTraceNumber }) => String(customerTraceNumber),
    );
    const failures = [...digests]
      .filter(([, requests]) => new Set(requests.map(({ digest }) => digest)).size > 1)
      .map(([trace]) => `${trace}: different requests under one trace number`);
    return { count: digests.size, failures };
  },
};

export const postingsInLedger: Invariant = {
  name: 'every posting has its claimed attempt, every answered attempt its posting',
  judge(evidence) {
    const index = new InquiryIndex(evidence);
    const postings = Map.groupBy(evidence.sandbox.postings, ({ customerTraceNumber }) => customerTraceNumber);
    const failures: string[] = [];
    for (const [trace, posted] of postings) {
      const sent = index.sent(trace).length;
      if (posted.length > sent) failures.push(`${index.stepOf(trace)}: ${posted.length} postings, ${sent} attempts`);
    }
    let answered = 0;
    for (const trace of index.inquiries.keys()) {
      const isKnown = (number: string) => postings.get(trace)?.some((posting) => isReferenceOf(posting, number));
      const answers = index.attempts(trace).filter(({ answerKind }) => answerKind !== undefined);
      answered += answers.length;
      if (answers.length > (postings.get(trace)?.length ?? 0)) {
        failures.push(
          `${index.stepOf(trace)}: ${answers.length} answers, ${postings.get(trace)?.length ?? 0} postings`,
        );
      }
      for (const { attempt, reportReferenceNumber } of answers) {
        if (reportReferenceNumber === undefined || isKnown(reportReferenceNumber)) continue;
        failures.push(`${index.stepOf(trace)} attempt ${attempt}: a reference that the gateway gave nobody for it`);
      }
    }
    return { count: evidence.sandbox.postings.length + answered, failures };
  },
};

export const postedByGrants: Invariant = {
  name: 'a share is posted once, for consumers each of whom has a grant of its claim; once more for each resend',
  judge(evidence) {
    const index = new InquiryIndex(evidence);
    const shares = Map.groupBy(
      evidence.sandbox.postings.filter(({ productCode }) => productCode === 'SECONDUSE'),
      ({ customerTraceNumber }) => index.stepOf(customerTraceNumber),
    );
    const failures: string[] = [];
    for (const [share, postings] of shares) {
      const traces = [...new Set(postings.map(({ customerTraceNumber }) => customerTraceNumber))];
      const permitted = 1 + traces.reduce((sum, trace) => sum + index.resends(trace), 0);
      if (postings.length > permitted) failures.push(`${share}: ${postings.length} postings, ${permitted} permitted`);
      for (const posting of postings) {
        const named = namesOf(posting, evidence);
        const grants = index.sent(posting.customerTraceNumber).map(({ consents }) => consents);
        const isGranted = grants.some(
          (claim) =>
            claim
              .map(({ applicantId }) => applicantId)
              .sort()
              .join() === named,
        );
        if (!isGranted) failures.push(`${share}: posted for ${named || 'strangers'}, without a claim by their grants`);
      }
    }
    return { count: shares.size, failures };
  },
};

/** The applicants whom a share's posting names, by the report that it shares. */
function namesOf({ applicants, sharedReference }: SandboxPosting, { sandbox }: Evidence): string {
  const report = sandbox.postings.find((one) => one.reportReferenceNumber === sharedReference);
  const names = new Map(report?.applicants.map(({ consumerId, applicantId }) => [consumerId, applicantId]));
  return applicants
    .flatMap(({ consumerId }) => names.get(consumerId) ?? [])
    .sort()
    .join();
}
