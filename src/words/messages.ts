/** What each message is for and what goes into it, with an example: the forms of the Temporal UI show it. */

const CONSENT =
  '{"journeyId":"LOAN-1","shareId":"INVESTOR-1","applicantId":"1A","consentId":"C-1","decision":"granted","decidedAt":"2026-01-05T10:00:00Z","secondaryUser":{"endUserCode":"EU999"},"evidence":{"method":"web","textVersion":"v1","capturedAt":"2026-01-05T10:00:00Z","reference":"doc-1"}}';
const REFERENCES = 'What has to be stored for later shares. No input. consumerId is personal.';

/** The messages of every kind of run. `example` has the id, by whom and why. */
function describeMessages(name: string, example: Readonly<Record<string, string>>) {
  const [idName = ''] = Object.keys(example);
  const withdrawal = JSON.stringify(example);
  const decision = { ...example, decisionId: 'D-1', customerTraceNumber: '…00', attempt: 1, action: 'abandon' };
  return {
    withdraw: `Ends the ${name} after any attempt in flight; what is on hold still waits for a decision. Fields: ${idName}, by, reason. Example: ${withdrawal}`,
    requestWithdrawal: `The same as withdraw, without an answer. Example: ${withdrawal}`,
    resolveInquiry: `Decides about an inquiry on hold. The current details (User Metadata) have this input filled in. Fields: ${idName}, decisionId, customerTraceNumber, attempt, action, by, reason, providerSaid (posted, notPosted, unknown, notAsked); accept: outcome, reference; amend, but of no share: applicants; proof where the profile asks for one. Example: ${JSON.stringify({ ...decision, providerSaid: 'posted' })}`,
    status: `Where the ${name} stands, what it waits for, what is on hold, what was refused. No input. Nothing personal.`,
  };
}

export const DESCRIPTIONS = {
  ...describeMessages('journey', { journeyId: 'LOAN-1', by: 'ops', reason: 'the applicant has withdrawn' }),
  advance:
    'Passes the gate before a stage; one that comes early is kept. Fields: journeyId, to; applicants to replace them; acceptAge (true), by, reason where the report is too old; skip, by, reason to leave out a stage before it. Or pulls the latest stage once more. Fields: journeyId, repeat, occurrence (2 for the first repeat), by, reason; applicants; proof where the profile asks for one. Example: {"journeyId":"LOAN-1","to":"PREAPP"}',
  requestShare:
    'Shares the report with a secondary user, once every applicant consents. Fields: journeyId, share; replaces, by, reason where it corrects another share. Example: {"journeyId":"LOAN-1","share":{"shareId":"INVESTOR-1","endUserCode":"EU999"}}',
  withdrawShare:
    'Takes one share back before it is sent; answers once the ledger has closed it, and is refused where its claim came first. Fields: journeyId, shareId, by, reason. Example: {"journeyId":"LOAN-1","shareId":"INVESTOR-1","by":"ops","reason":"another investor was meant"}',
  extend:
    'Makes a wait longer while it lasts: at a gate, or of a share for consent. Fields: journeyId, gate (the stage behind it) or shareId, until (later than now shown), by, reason. Example: {"journeyId":"LOAN-1","gate":"PREAPP","until":"2026-03-01T00:00:00Z","by":"ops","reason":"the appraisal is late"}',
  recordConsent: `Records that an applicant granted, denied or revoked consent to a share; refuses what makes no sense. A grant needs evidence (never personal). Example: ${CONSENT}`,
  consent: `The same as recordConsent, without an answer: what is refused is shown in the query status. Example: ${CONSENT}`,
  references: REFERENCES,
} as const;

/** Those of single pulls. */
export const PULL_DESCRIPTIONS = {
  ...describeMessages('pull', { pullId: 'PULL-1', by: 'ops', reason: 'asked for by mistake' }),
  references: REFERENCES,
} as const;

const REVIEW = { reviewId: 'REVIEW-1', by: 'ops', reason: 'the provider has asked for it' };

/** Those of portfolio reviews. */
export const PORTFOLIO_DESCRIPTIONS = {
  ...describeMessages('review', REVIEW),
  pause: `Sends nothing more until resume; attempts in flight come to their end. Fields: reviewId, by, reason. Example: ${JSON.stringify(REVIEW)}`,
  resume: `Goes on after pause. Example: ${JSON.stringify(REVIEW)}`,
  progress: 'How many rows are done, with which outcome, and how fast. No input.',
} as const;

const SHARE_CONSENT = CONSENT.replace(
  '"journeyId":"LOAN-1","shareId":"INVESTOR-1"',
  '"journeyId":"share:S-1","shareId":"S-1"',
);

/** Those of shares by themselves. */
export const SHARE_REPORT_DESCRIPTIONS = {
  ...describeMessages('share', { shareId: 'S-1', by: 'ops', reason: 'asked for by mistake' }),
  recordConsent: DESCRIPTIONS.recordConsent.replace(CONSENT, SHARE_CONSENT),
  consent: DESCRIPTIONS.consent.replace(CONSENT, SHARE_CONSENT),
  extend:
    'Makes the wait for consent longer while it lasts. Fields: shareId, until (later than now shown), by, reason. Example: {"shareId":"S-1","until":"2026-03-01T00:00:00Z","by":"ops","reason":"the borrower travels"}',
  lookUpConsents:
    'Makes a share that waits ask the ledger what was said about it; recordLateConsent sends it. No input.',
  references: 'The report that is shared, and the share’s own reference. No input. consumerId is personal.',
} as const;
