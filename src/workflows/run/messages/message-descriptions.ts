/** What each message is for and what goes into it, with an example: the forms of the Temporal UI show it. */

const CONSENT =
  '{"journeyId":"LOAN-1","shareId":"INVESTOR-1","applicantId":"1A","consentId":"C-1","decision":"granted","decidedAt":"2026-01-05T10:00:00Z","secondaryUser":{"endUserCode":"EU999"},"evidence":{"method":"web","textVersion":"v1","capturedAt":"2026-01-05T10:00:00Z","reference":"doc-1"}}';
const WITHDRAWAL = '{"journeyId":"LOAN-1","by":"ops","reason":"the applicant has withdrawn"}';

const PULL_WITHDRAWAL = '{"pullId":"PULL-1","by":"ops","reason":"asked for by mistake"}';

export const DESCRIPTIONS = {
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
  withdraw: `Ends the journey after any attempt in flight; what is on hold still waits for a decision. Fields: journeyId, by, reason. Example: ${WITHDRAWAL}`,
  requestWithdrawal: `The same as withdraw, without an answer. Example: ${WITHDRAWAL}`,
  resolveInquiry:
    'Decides about an inquiry on hold. The current details (User Metadata) have this input filled in. Fields: journeyId, decisionId, customerTraceNumber, attempt, action, by, reason, providerSaid (posted, notPosted, unknown, notAsked); accept: outcome, reference; amend: applicants; proof where the profile asks for one. Example: {"journeyId":"LOAN-1","decisionId":"D-1","customerTraceNumber":"PQ…00","attempt":1,"action":"abandon","by":"ops","reason":"the applicant has withdrawn","providerSaid":"posted"}',
  status: 'Where the journey stands, what it waits for, what was refused. No input. Nothing personal.',
  references: 'What has to be stored for later shares. No input. consumerId is personal.',
} as const;

/** Those of single pulls. */
export const PULL_DESCRIPTIONS = {
  withdraw: `Ends the pull after any attempt in flight; what is on hold still waits for a decision. Fields: pullId, by, reason. Example: ${PULL_WITHDRAWAL}`,
  requestWithdrawal: `The same as withdraw, without an answer. Example: ${PULL_WITHDRAWAL}`,
  resolveInquiry: DESCRIPTIONS.resolveInquiry.replaceAll('journeyId', 'pullId').replace('LOAN-1', 'PULL-1'),
  status: 'Where the pull stands, what it waits for, what was refused. No input. Nothing personal.',
  references: 'What has to be stored for later shares. No input. consumerId is personal.',
} as const;

const REVIEW_MESSAGE = '{"reviewId":"REVIEW-1","by":"ops","reason":"the provider has asked for it"}';

/** Those of portfolio reviews. */
export const PORTFOLIO_DESCRIPTIONS = {
  withdraw: `Ends the review after the attempts in flight; what is on hold still waits for a decision. Fields: reviewId, by, reason. Example: ${REVIEW_MESSAGE}`,
  requestWithdrawal: `The same as withdraw, without an answer. Example: ${REVIEW_MESSAGE}`,
  pause: `Sends nothing more until resume; attempts in flight come to their end. Fields: reviewId, by, reason. Example: ${REVIEW_MESSAGE}`,
  resume: `Goes on after pause. Example: ${REVIEW_MESSAGE}`,
  resolveInquiry: DESCRIPTIONS.resolveInquiry.replaceAll('journeyId', 'reviewId').replace('LOAN-1', 'REVIEW-1'),
  status: 'Where the review stands, what is on hold, what was refused. No input. Nothing personal.',
  progress: 'How many rows are done, with which outcome, and how fast. No input.',
} as const;

const SHARE_CONSENT = CONSENT.replace(
  '"journeyId":"LOAN-1","shareId":"INVESTOR-1"',
  '"journeyId":"share:S-1","shareId":"S-1"',
);

/** Those of shares by themselves. */
export const SHARE_REPORT_DESCRIPTIONS = {
  recordConsent: DESCRIPTIONS.recordConsent.replace(CONSENT, SHARE_CONSENT),
  consent: DESCRIPTIONS.consent.replace(CONSENT, SHARE_CONSENT),
  extend:
    'Makes the wait for consent longer while it lasts. Fields: shareId, until (later than now shown), by, reason. Example: {"shareId":"S-1","until":"2026-03-01T00:00:00Z","by":"ops","reason":"the borrower travels"}',
  lookUpConsents:
    'Makes a share that waits ask the ledger what was said about it; recordLateConsent sends it. No input.',
  withdraw:
    'Ends the share after any attempt in flight; what is on hold still waits for a decision. Fields: shareId, by, reason. Example: {"shareId":"S-1","by":"ops","reason":"asked for by mistake"}',
  requestWithdrawal: 'The same as withdraw, without an answer.',
  resolveInquiry:
    'Decides about an inquiry on hold. The current details (User Metadata) have this input filled in. Fields: shareId, decisionId, customerTraceNumber, attempt, action, by, reason, providerSaid (posted, notPosted, unknown, notAsked); accept: outcome, reference; proof where the profile asks for one. Example: {"shareId":"S-1","decisionId":"D-1","customerTraceNumber":"SU…00","attempt":1,"action":"abandon","by":"ops","reason":"the investor has gone","providerSaid":"posted"}',
  status: 'Where the share stands, what it waits for, what was refused. No input. Nothing personal.',
  references: 'The report that is shared, and the share’s own reference. No input. consumerId is personal.',
} as const;
