/**
 * The start of each deflate window, so that a message of a hundred bytes shrinks too (docs/payload-format.md). It holds
 * the names and fixed words of this project's messages. The most frequent come last, where they cost the fewest bits.
 *
 * Part of the payload format: never changed once payloads were written with it. A new dictionary needs a new method
 * byte. A name that no message has any more, such as `refusalsAfterPosting`, only costs a few bytes of the window.
 */
export const PAYLOAD_DICTIONARY_1 = Buffer.from(
  [
    '{"problems":[{"path":"/applicants/0/","rule":"must be "}]}',
    '"message":"Activity task failed","stack_trace":"ApplicationFailure: Error: \\n    at "',
    '"open for further shares""checking the input""recording the decision""recording 2 consents""looking up the inquiry"',
    '"gate before PRECLOSE: waiting for advance, P30D at the most""gate before PREAPP: waiting for advance, P"',
    '"share S1: waiting for the consent of 1A, 2A""waiting for a decision on PREQUAL attempt 1"',
    '"SECONDUSE · share S1 · attempt 1""PRECLOSE · attempt 1""PREAPP · attempt 1""PREQUAL · amended 1 · attempt 1"',
    '"profile":"default","gates":{"PREAPP":{"pass":"manual","expiresAfter":"P30D"},"PRECLOSE":{"pass":"auto"}},',
    '"onNoRecord":"continue","sharesOpenFor":"P","awaitConsentFor":"P30D","consentValidFor":"P90D","reportOf":"',
    '"decision":"revoked","denied","postedSharesFlagged":0,"refusalsAfterPosting":[],"kind":"recorded"',
    '"decisionId":"","action":"resend","accept","amend","abandon","by":"operator","reason":"","providerSaid":"notPosted"',
    '"failureType":"OutcomeUnknown","httpStatus":50,"since":"2026-","allowedActions":["resend","accept","abandon"]',
    '"holds":[{"customerTraceNumber":"","productCode":"","failureType":"RequestRefused","attempts":1,"claimed":true,',
    '"amends":"","flagged":"ssnMismatch","retryAfterMs":1000,"waitMs":,"runId":"","tokenFetchedAfter":"2026-',
    '"kind":"latest","latest":{"attempt":1,"state":"unknown","claimedAt":"2026-',
    '{"accepted":true,"duplicate":false,"status":{"journeyId":"","environment":"production","state":"waitingAtGate",',
    '"waitingFor":"PREAPP","stages":[{"productCode":"PREQUAL","state":"record","attempts":1,"customerTraceNumber":"PQ',
    '","reportReferenceNumber":""},{"productCode":"PREAPP","state":"pending","attempts":0},{"productCode":"PRECLOSE",',
    '"state":"pending","attempts":0}],"shares":[{"shareId":"S1","state":"awaitingConsent","waitingFor":["1A","2A"]}],',
    '"holds":[],"refusedMessages":[],"refusedMessagesTotal":0}}',
    '{"environment":"production","profile":"default","customerId":"","profileFingerprint":"","ledgerId":"ledger-',
    '","settings":{"giveUpAfterMs":86400000,"backoffInitialMs":1000,"backoffMaxMs":300000,"retryAfterMaxMs":3600000,',
    '"sendByMs":5000,"submitTimeoutMs":15000,"heartbeatTimeoutMs":10000},"searchAttributes":["JourneyStage",',
    '"NeedsAttention","EndUserCode","CustomerTraceNumber"],"token":"ready"}',
    '"outcome":"completed","stages":[{"productCode":"PRECLOSE","state":"record","attempts":1,"customerTraceNumber":"PC',
    '{"input":{"journeyId":"","endUserCode":"","permissiblePurposeCodes":{"PREQUAL":"01","PREAPP":"01","PRECLOSE":"01",',
    '"SECONDUSE":"02"},"applicants":[{"applicantId":"1A","names":[{"first":"","middle":"","last":"","gen":""}],"ssn":"',
    '","dob":"19","phones":[{"phoneNumber":"","phoneType":"MOBL"}],"emailAddress":"@","ipAddress":"","addresses":[{',
    '"addressIdentifier":"C","line1":"","line2":"","city":"","state":"","zip":"","zip4":""}]}],"stages":["PREQUAL",',
    '"PREAPP","PRECLOSE"],"shares":[{"shareId":"S1","endUserCode":"","endUser":"","permissiblePurposeCode":"02"}]}}',
    '{"ledgerId":"ledger-","consents":[{"journeyId":"","shareId":"S1","consentId":"","decision":"granted","decidedAt":',
    '"2026-","secondaryUser":{"endUserCode":""},"evidence":{"method":"web","textVersion":"v1","capturedAt":"2026-',
    '","reference":""},"applicantId":"1A","receivedAt":"2026-',
    '{"inquiry":{"customerTraceNumber":"SU","environment":"sandbox","profile":"default","customerId":"","workflowType":',
    '"lendingJourney","callerId":"","productCode":"SECONDUSE","ordinal":0,"shareId":"S1","endUserCode":"',
    '","permissiblePurposeCode":"01"},"attempt":1,"consents":[],"applicants":[{"applicantId":"1A","names":[{"first":"',
    '"run":{"environment":"sandbox","profile":"default","customerId":"","profileFingerprint":"","ledgerId":"ledger-',
    '{"kind":"answered","attempt":1,"answer":{"kind":"outcome","outcome":"record","returnCode":"Record","reference":{',
    '"reportReferenceNumber":"","requestedAt":"2026-","applicants":[{"applicantId":"1A","consumerId":""},{"applicantId":',
    '"2A","consumerId":"","outcome":"noRecord","returnCode":"No Record"}]}},"recorded":true,"requestedAt":"2026-',
    '{"journeyId":"","to":"PRECLOSE"}"PREQUAL · attempt 1"',
    // A Payload as protobuf: its metadata, and the tag of its data.
    '\n\u0016\n\bencoding\u0012\njson/plain\u0012',
  ].join(''),
  'utf8',
);
