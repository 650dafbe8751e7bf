/** The tests that show each row and rule of the interface (docs/interface-coverage.md), as `file › title`. */

const ANSWERS = 'test/gateway/interface-answers.test.ts';
const ROWS = 'test/gateway/interface-rows.test.ts';

/** Tests that are written once for all rows of a table. Their titles begin with the row. */
const BY_TITLE: readonly [row: RegExp, file: string, words: string][] = [
  [/^2\.1 \w+$/, ANSWERS, 'is required and must not be empty'],
  [/^2\.2 (?:access_token|expires_in|token_type)$/, ANSWERS, 'an answer without it is refused'],
  [/^(?:2\.3|2\.6|4\.3) [\w.[\]]+$/, ROWS, 'is validated as its row requires'],
  [/^2\.4 consumer\./, ANSWERS, 'is read unchanged, and held if it is malformed'],
  [/^2\.5 \w+RefId$/, ANSWERS, 'is read unchanged and refers to the entry of its own list'],
  [/^2\.5 names/, ANSWERS, 'is read unchanged and does not affect the outcome'],
  [/^2\.8 consumers\[\]\./, ANSWERS, 'is read unchanged, and another value changes the answer as listed'],
];

/** @param id the section and the row */
export function findTests(id: string, named = INTERFACE_TESTS): readonly string[] {
  const own = named[id] ?? [];
  const [, file, words] = BY_TITLE.find(([row]) => row.test(id)) ?? [];
  const hasAnother = own.some((test) => test.includes(`› ${id}: `));
  return file === undefined || hasAnother ? own : [`${file} › ${id}: ${words}`, ...own];
}

/** The other tests, by section and row. */
export const INTERFACE_TESTS: Readonly<Record<string, readonly string[]>> = {
  '1 JSON over HTTPS': [
    'test/gateway/gateway-tls.test.ts › the client sends over TLS if the profile contains the certificate authority',
    'test/config/start-up-rules.test.ts › is refused with http to another machine only in sandbox, uat, production',
  ],
  '1 one endpoint': [
    'test/gateway/gateway-client.test.ts › the client sends the request of the interface once and returns outcome, reference and body',
  ],
  '1 bearer token': [
    'test/gateway/token-source.test.ts › the token request has the method, path and body of the interface',
    'test/gateway/gateway-client.test.ts › the client sends the request of the interface once and returns outcome, reference and body',
  ],
  '1 CR': [
    'test/workflows/pulls.test.ts › pulls CR once, and keeps its report and its reference',
    'test/cli/examples-slow.test.ts › CR: its example in the README works',
  ],
  '1 PREQUAL': [
    'test/workflows/pulls.test.ts › pulls PREQUAL once, and keeps its report and its reference',
    'test/workflows/lending-journey.test.ts › with two applicants makes one inquiry for each of three stages and a consented share',
    'test/cli/examples-slow.test.ts › PREQUAL: its example in the README works',
  ],
  '1 PREAPP': [
    'test/workflows/pulls.test.ts › pulls PREAPP once, and keeps its report and its reference',
    'test/workflows/lending-journey.test.ts › with two applicants makes one inquiry for each of three stages and a consented share',
    'test/cli/examples-slow.test.ts › PREAPP: its example in the README works',
  ],
  '1 PRECLOSE': [
    'test/workflows/pulls.test.ts › pulls PRECLOSE once, and keeps its report and its reference',
    'test/workflows/lending-journey.test.ts › with two applicants makes one inquiry for each of three stages and a consented share',
    'test/cli/examples-slow.test.ts › PRECLOSE: its example in the README works',
  ],
  '1 ACCTRVW': [
    'test/workflows/pulls.test.ts › pulls ACCTRVW once, and keeps its report and its reference',
    'test/cli/examples-slow.test.ts › ACCTRVW: its example in the README works',
  ],
  '1 REFUPD': [
    'test/workflows/pulls.test.ts › pulls REFUPD once, and keeps its report and its reference',
    'test/workflows/pulls.test.ts › keeps the identification under which REFUPD reports each account',
    'test/cli/examples-slow.test.ts › REFUPD: its example in the README works',
  ],
  '1 one format': [
    'test/gateway/requests.test.ts › a CR request has the standard form and differs from others only in its product code',
    'test/gateway/requests.test.ts › a REFUPD request has the standard form and differs from others only in its product code',
  ],
  '1 what the code decides': [
    'test/activities/inquiry-request.test.ts › a request with a purpose or an end user that the profile does not list for the product is refused',
    'test/workflows/pulls.test.ts › refuses another input or another product under an id that is taken',
  ],
  '1 SECONDUSE': [
    'test/workflows/lending-journey.test.ts › with two applicants makes one inquiry for each of three stages and a consented share',
    'test/cli/examples-slow.test.ts › SECONDUSE: its example in the README works',
    'test/workflows/share-report.test.ts › is posted once every applicant of a pull’s report consents',
  ],
  '1 a confirmation only': [
    'test/gateway/gateway-client.test.ts › the client posts a SECONDUSE and returns the reference number of that posting',
  ],
  '1 pulled for end user A': [
    'test/workflows/lending-journey.test.ts › stops after a stage without a record, or continues if its input says so',
  ],
  '1 shared with end user B': [
    'test/validation/messages.test.ts › is refused for a share with the journey’s own end user',
    'test/workflows/lending-journey.test.ts › refuses invalid messages with the reason, and shows refused signals',
  ],
  '1 consumer has authorized it': [
    'test/workflows/consents.test.ts › no sequence of consents posts a share twice, or without the grant of every applicant',
    'test/model/standing.test.ts › is a grant only after a grant of this applicant',
  ],
  '1 permissible purpose exists': [
    'test/gateway/interface-rows.test.ts › 2.6 permissiblePurposeCode: is validated as its row requires',
  ],
  '1 FAILSAFE': [
    'test/workflows/pulls.test.ts › has FAILSAFE’s outcome and reference for each consumer',
    'test/cli/examples-slow.test.ts › FAILSAFE: its example in the README works',
  ],
  '1 Client Secret apart from it': [
    'test/config/config.test.ts › are read again at each use, without the final newline',
  ],
  '1 exchanged for a token': [
    'test/gateway/token-source.test.ts › concurrent callers share a single token fetch, and a valid token is not fetched again',
  ],
  '2.1 audience': [
    'test/gateway/token-source.test.ts › the token request has the method, path and body of the interface',
  ],
  '2.1 grant_type': [
    'test/gateway/token-source.test.ts › the token request has the method, path and body of the interface',
  ],
  '2.1 client_id': [
    'test/gateway/token-source.test.ts › the token request has the method, path and body of the interface',
  ],
  '2.1 client_secret': [
    'test/gateway/token-source.test.ts › errors show no secret, no token and nothing of the error of reading credentials',
  ],
  '2.2 access_token': ['test/gateway/token-source.test.ts › an answer that is not a valid bearer token is refused'],
  '2.2 scope': [
    'test/gateway/interface-answers.test.ts › 2.2 scope: can have any value, since no request asks for a scope',
  ],
  '2.2 expires_in': [
    'test/gateway/token-source.test.ts › the token request has the method, path and body of the interface',
  ],
  '2.2 token_type': ['test/gateway/token-source.test.ts › the token type Bearer is accepted in any letter case'],
  '2.3 customerTraceNumber': [
    'test/activities/resent-attempts.test.ts › 2.3, 2.6: a resend has the new trace number, and the automatic attempts after it keep that number',
    'test/model/trace-number.test.ts › the same parts always give the same trace number of 28 characters, of the interface’s 30',
  ],
  '2.3 endUserCode': [
    'test/gateway/requests.test.ts › 2.3: an end user or a purpose without a letter or digit is refused, and the refusal says so',
  ],
  '2.3 permissiblePurposeCode': [
    'test/gateway/requests.test.ts › 2.3: an end user or a purpose without a letter or digit is refused, and the refusal says so',
    'test/activities/inquiry-request.test.ts › a request with a purpose or an end user that the profile does not list for the product is refused',
  ],
  '2.3 applicants[]': [
    'test/gateway/requests.test.ts › a report request needs one to four applicants with distinct identifiers and SSNs',
  ],
  '2.3 applicants[].ssn': ['test/gateway/requests.test.ts › an applicant with an SSN of zeros is refused by path'],
  '2.3 applicants[].dob': [
    'test/gateway/requests.test.ts › an applicant with a birth date before 1900 is refused by path',
  ],
  '2.3 applicants[].addresses[].state': ['test/gateway/requests.test.ts › state codes are sent in capitals'],
  '2.3 applicants[].addresses[].zip': [
    'test/gateway/requests.test.ts › nine digits or ZIP+4 are split into zip and zip4, with or without a matching zip4',
  ],
  '2.3 applicants[].addresses[].zip4': ['test/gateway/requests.test.ts › a zip4 that contradicts the zip is refused'],
  '2.3 characters of AN': [
    'test/activities/accents.test.ts › 2.3: by default a start with accents is refused; the error names path and assumption, not the value',
    'test/activities/accents.test.ts › 2.3: a profile may send names and addresses without accents',
    'test/activities/accents.test.ts › 2.3: a profile may pass accents on',
  ],
  '2.3 lengths: maximum or exact': [
    'test/gateway/interface-rows.test.ts › 2.3 applicants[].names[].first: is validated as its row requires',
  ],
  '2.3 lists of purposes and states': [
    'test/activities/inquiry-request.test.ts › a request with a purpose or an end user that the profile does not list for the product is refused',
  ],
  '2.4 returnCode': [
    'test/gateway/answers.test.ts › an answer without a return code or with an unprintable return code is held',
    'test/gateway/answers.test.ts › No Record is read as noRecord, without a reference',
  ],
  '2.4 reportReferenceNumber': [
    'test/gateway/answers.test.ts › a record with a missing or invalid reference number is held',
  ],
  '2.4 applicants[]': [
    'test/gateway/who-is-who.test.ts › an answer with more or fewer applicants than the request is held',
    'test/gateway/answers.test.ts › a record of two applicants is normalised independent of their order',
    'test/gateway/matching-properties.test.ts › an answer with missing fields gives no consumerId to another applicant than its owner',
  ],
  '2.4 applicants[].consumerId': [
    'test/gateway/answers.test.ts › a record is held if a consumerId is missing, too long or the same for two applicants',
    'test/gateway/matching-properties.test.ts › an answer with missing fields gives no consumerId to another applicant than its owner',
  ],
  '2.4 applicants[].consumer': [
    'test/gateway/answers.test.ts › a report under a code without a record is held, in an entry or beside the entries',
    'test/gateway/answer-properties.test.ts › for any mix of entries no report or consumerId is lost or given to another applicant',
    'test/gateway/answers.test.ts › a record whose consumer is missing, empty or malformed is held',
    'test/workflows/pulls.test.ts › pulls CR once, and keeps its report and its reference',
    'test/gateway/answers.test.ts › a stored answer keeps unknown fields and the reason fields',
  ],
  '2.4 consumer.ssn': [
    'test/gateway/who-is-who.test.ts › entries without applicantId are matched by SSN, with dashes, as a number or masked',
  ],
  '2.4 stored: reportReferenceNumber': [
    'test/workflows/pulls.test.ts › pulls CR once, and keeps its report and its reference',
  ],
  '2.4 stored: consumerId of each': [
    'test/gateway/answers.test.ts › the consumerId of an answer without a record is kept, as 2.4 requires',
    'test/workflows/lending-journey.test.ts › with two applicants makes one inquiry for each of three stages and a consented share',
    'test/workflows/share-report.test.ts › accepts a report given in full only as the ledger has it: same run, applicants and consumers',
  ],
  '2.4 stored: when it was asked': [
    'test/gateway/gateway-client.test.ts › the client sends the request of the interface once and returns outcome, reference and body',
  ],
  '2.4 full field list, code lists': [
    'test/gateway/answers.test.ts › a stored answer keeps unknown fields and the reason fields',
  ],
  '2.5 everything of 2.4': [
    'test/workflows/pulls.test.ts › pulls REFUPD once, and keeps its report and its reference',
    'test/workflows/pulls.test.ts › keeps the identification under which REFUPD reports each account',
  ],
  '2.5 names[].firstReportedDate': [
    'test/workflows/pulls.test.ts › keeps the identification under which REFUPD reports each account',
  ],
  '2.5 names[].totalOccurrences': [
    'test/workflows/pulls.test.ts › keeps the identification under which REFUPD reports each account',
  ],
  '2.5 names[].activeOccurrences': [
    'test/workflows/pulls.test.ts › keeps the identification under which REFUPD reports each account',
  ],
  '2.5 names[].refId': [
    'test/workflows/pulls.test.ts › keeps the identification under which REFUPD reports each account',
  ],
  '2.5 what a RefId refers to': [
    'test/gateway/interface-answers.test.ts › 2.5 consumerNameRefId: is read unchanged and refers to the entry of its own list',
    'test/gateway/interface-answers.test.ts › a refId that two entries have refers to no entry',
    'test/changes/changes-between.test.ts › names the identification of a new tradeline if a reference update has it',
  ],
  '2.5 meaning of 0': [
    'test/gateway/interface-answers.test.ts › the refId 0 refers to no entry, even if an entry has it',
  ],
  '2.6 customerTraceNumber': [
    'test/model/trace-number.test.ts › trace numbers differ if any part differs, also if the parts concatenate to the same text',
  ],
  '2.6 endUserCode': [
    'test/gateway/requests.test.ts › a share request needs an end user code or a name, and can have both',
  ],
  '2.6 endUser': [
    'test/gateway/requests.test.ts › a share request needs an end user code or a name, and can have both',
  ],
  '2.6 productCode': [
    'test/gateway/interface-rows.test.ts › 2.6 productCode: is always SECONDUSE, and callers cannot change it',
  ],
  '2.6 accessMethod': [
    'test/gateway/interface-rows.test.ts › 2.6 accessMethod: is always ID, and callers cannot change it',
  ],
  '2.6 originalInquiryDate': [
    'test/gateway/interface-rows.test.ts › 2.6 originalInquiryDate: is YYYY-MM-DD HH:MM:SS within 20 characters and needs a valid past date',
    'test/gateway/requests.test.ts › a share request has access method ID and the inquiry date in the profile’s time zone',
  ],
  '2.6 applicants[]': [
    'test/workflows/consents.test.ts › is denied by one of two applicants, whose grant was dated ahead within the tolerance',
  ],
  '2.6 applicants[].consumerId': [
    'test/gateway/requests.test.ts › a share request with a future inquiry date or a wrong reference is refused by path',
  ],
  '2.7 returnCode': ['test/gateway/answers.test.ts › a share counts as posted only if its return code is Record'],
  '2.7 reportReferenceNumber': [
    'test/gateway/answers.test.ts › a confirmation without a reference or for a consumer who was not shared is held',
    'test/gateway/gateway-client.test.ts › the client posts a SECONDUSE and returns the reference number of that posting',
  ],
  '2.7 differs, and is stored': [
    'test/gateway/answers.test.ts › a confirmation with the reference number of the shared report is held',
    'test/workflows/lending-journey.test.ts › with two applicants makes one inquiry for each of three stages and a consented share',
  ],
  '2.8 consumers[]': [
    'test/gateway/answers.test.ts › entries in consumers are read like entries in applicants',
    'test/workflows/pulls.test.ts › has FAILSAFE’s outcome and reference for each consumer',
  ],
  '2.8 consumers[].customerTraceNumber': [
    'test/gateway/answer-properties.test.ts › for any mix of echoes another request is a hold, and every other difference is a remark',
  ],
  '2.8 consumers[].reportReferenceNumber': [
    'test/gateway/answers.test.ts › FAILSAFE entries that agree on Record are read as unattributed',
  ],
  '2.8 consumers[].productCode': [
    'test/gateway/answer-properties.test.ts › for any mix of echoes another request is a hold, and every other difference is a remark',
  ],
  '2.8 consumers[].customerId': [
    'test/gateway/answer-properties.test.ts › for any mix of echoes another request is a hold, and every other difference is a remark',
  ],
  '2.8 consumers[].applicantId': [
    'test/gateway/answers.test.ts › FAILSAFE entries with different outcomes are held if only the gateway’s own ids name the applicants',
  ],
  '2.8 consumers[].consumerId': [
    'test/gateway/answers.test.ts › an answer is held if an applicant with a record and one without have the same consumerId',
  ],
  '2.8 consumers[].returnCode': [
    'test/gateway/answers.test.ts › a FAILSAFE answer for a single applicant yields outcome, reference number and consumerId',
  ],
  '3 codes are outcomes': [
    'test/gateway/answers.test.ts › No Record is read as noRecord, without a reference',
    'test/workflows/lending-journey.test.ts › stops after a stage without a record, or continues if its input says so',
  ],
  '3 transitions': [
    'test/workflows/failure-table.test.ts › no answer, posted becomes a hold: OutcomeUnknown, after one request',
  ],
  '4.1 method': [
    'test/gateway/token-source.test.ts › the token request has the method, path and body of the interface',
  ],
  '4.1 path': ['test/gateway/token-source.test.ts › the token request has the method, path and body of the interface'],
  '4.1 headers': [
    'test/gateway/token-source.test.ts › the token request has the method, path and body of the interface',
  ],
  '4.1 request body': [
    'test/gateway/token-source.test.ts › the token request has the method, path and body of the interface',
  ],
  '4.1 response body': [
    'test/gateway/token-source.test.ts › the token request has the method, path and body of the interface',
  ],
  '4.2 method': [
    'test/gateway/gateway-client.test.ts › the client sends the request of the interface once and returns outcome, reference and body',
  ],
  '4.2 path': [
    'test/gateway/gateway-client.test.ts › the client sends the request of the interface once and returns outcome, reference and body',
    'test/gateway/gateway-client.test.ts › the client builds the request path from the profile’s base URL and API version',
  ],
  '4.2 headers': [
    'test/gateway/gateway-client.test.ts › the client sends the request of the interface once and returns outcome, reference and body',
    'test/gateway/gateway-client.test.ts › the client sends nothing if the token is not valid in a header',
  ],
  '4.2 request body': [
    'test/gateway/interface-rows.test.ts › 2.3 applicants[].names[].first: is validated as its row requires',
    'test/gateway/interface-rows.test.ts › 2.3 applicants[].names[].first: is validated as its row requires',
    'test/gateway/interface-rows.test.ts › 2.3 applicants[].names[].first: is validated as its row requires',
  ],
  '4.2 response body': [
    'test/gateway/gateway-client.test.ts › the client sends the request of the interface once and returns outcome, reference and body',
  ],
  '4.2 4.2.1 reports': [
    'test/workflows/pulls.test.ts › pulls ACCTRVW once, and keeps its report and its reference',
    'test/workflows/pulls.test.ts › keeps the identification under which REFUPD reports each account',
  ],
  '4.2 4.2.2 SECONDUSE': [
    'test/workflows/lending-journey.test.ts › with two applicants makes one inquiry for each of three stages and a consented share',
  ],
  '4.2 4.2.3 FAILSAFE': ['test/workflows/pulls.test.ts › has FAILSAFE’s outcome and reference for each consumer'],
  '4.2 rule 1: accessMethod': [
    'test/gateway/interface-rows.test.ts › 2.6 accessMethod: is always ID, and callers cannot change it',
  ],
  '4.2 rule 2: not in the future': [
    'test/activities/inquiry-request.test.ts › a share’s originalInquiryDate is never in the future, also if the ledger’s clock is ahead',
    'test/gateway/requests.test.ts › a share request with a future inquiry date or a wrong reference is refused by path',
  ],
  '4.2 rule 3: the moment of the use': [
    'test/activities/inquiry-request.test.ts › a share’s originalInquiryDate is a few seconds before its attempt’s claim, also if the attempt is sent later',
    'test/activities/resent-attempts.test.ts › 2.6, rule 3: a share has the date of the attempt that was posted, not that of the first attempt',
    'test/activities/inquiry-request.test.ts › a share’s originalInquiryDate is the date of the original request if the profile sets that',
  ],
  '4.2 rule 4: each is an inquiry': [
    'test/workflows/bending-journeys.test.ts › shares one report with several investors, each with consents of its own',
    'test/model/trace-number.test.ts › trace numbers differ if any part differs, also if the parts concatenate to the same text',
    'test/workflows/share-report.test.ts › works without its journey’s history, for two secondary users with a consent each',
  ],
  '4.2 rule 5: code or name': [
    'test/gateway/requests.test.ts › a share request needs an end user code or a name, and can have both',
  ],
  '4.3 productCode': [
    'test/gateway/interface-rows.test.ts › 4.3 productCode: is always FAILSAFE, and callers cannot change it',
  ],
  '4.3 without seven fields': [
    'test/gateway/interface-rows.test.ts › 4.3: a FAILSAFE request omits the seven fields that are not in the sample',
  ],
  '4.3 required and optional': [
    'test/gateway/requests.test.ts › a FAILSAFE request has exactly the fields of the sample',
    'test/gateway/requests.test.ts › a FAILSAFE request has exactly the fields of the sample',
    'test/gateway/interface-rows.test.ts › 2.3 applicants[].names[].first: is validated as its row requires',
  ],
  '5 1 client credentials': [
    'test/gateway/token-source.test.ts › the token request has the method, path and body of the interface',
  ],
  '5 2 the answer': [
    'test/gateway/token-source.test.ts › the token request has the method, path and body of the interface',
    'test/gateway/token-source.test.ts › an answer that is not a valid bearer token is refused',
  ],
  '5 3 the header': [
    'test/gateway/gateway-client.test.ts › the client sends the request of the interface once and returns outcome, reference and body',
  ],
  '5 4 of a user ID': [
    'test/config/profiles-file.test.ts › gives profiles their own credentials, which profiles can share by name',
    'test/gateway/token-source.test.ts › each profile has its own token',
  ],
  '5 5 delivered apart': [
    'test/config/start-up-rules.test.ts › is refused with a client secret in a variable only in production',
  ],
  '5 6 separate addresses': [
    'test/config/profiles-file.test.ts › is refused if two environments share a host',
    'test/hazards/ledger-profile-changed-slow.test.ts › with another gateway address holds running journeys, sends nothing, and continues once the profile is back',
  ],
  '5 7 refresh and revocation': [
    'test/gateway/token-source.test.ts › a token is renewed before it expires, with jitter',
    'test/gateway/token-source.test.ts › a refused token is fetched again, but its refusal does not discard a newer token',
  ],
  '5 7 missing or expired token': [
    'test/workflows/failure-table.test.ts › 401 until the token is renewed is followed by one more attempt, and one inquiry is posted',
    'test/workflows/failure-table.test.ts › a second 401, with a new token, becomes a hold',
  ],
  '6 no events': [
    'test/workflows/failure-table.test.ts › no answer, posted becomes a hold: OutcomeUnknown, after one request',
    'test/workflows/failure-table.test.ts › sends the request once more with the same trace number (resend)',
  ],
  '7 1 every answer has a returnCode': [
    'test/gateway/answer-properties.test.ts › for any mix of entries and codes each outcome follows the interface, or the answer is held',
    'test/gateway/entry-meanings.test.ts › docs/protocol.md has the same tables as the code',
    'test/gateway/answers.test.ts › an answer without a return code or with an unprintable return code is held',
    'test/gateway/answers.test.ts › an answer whose entries contradict its top-level code is held',
  ],
  '7 2 values seen': [
    'test/gateway/answers.test.ts › No Record is read as noRecord, without a reference',
    'test/gateway/gateway-client.test.ts › the client sends the request of the interface once and returns outcome, reference and body',
  ],
  '7 3 the complete list': [
    'test/workflows/failure-table.test.ts › an unknown returnCode becomes a hold: ReturnCodeUnknown, after one request',
    'test/gateway/answers.test.ts › the profile can define or change the meaning of a return code',
    'test/workflows/lending-journey.test.ts › holds an inquiry with Suppress, a code that the interface does not explain (7.3), until a decision',
  ],
  '7 4 HTTP statuses': [
    'test/gateway/gateway-client.test.ts › the client reports status 503 as OutcomeUnknown after exactly one request',
    'test/gateway/gateway-client.test.ts › the client reports status 401 as OutcomeUnknown if [] mean "not processed"',
  ],
  '7 5 shape of an error body': [
    'test/gateway/gateway-client.test.ts › the client reports a refusal by its status even if the connection ends within the body',
    'test/workflows/failure-table.test.ts › is kept encrypted, and the hold says so: RequestRefused',
  ],
  '7 6 what breaks the rules': [
    'test/workflows/lending-journey.test.ts › fails with every problem of an invalid input, before it sends anything',
    'test/workflows/pulls.test.ts › is checked by its worker also if the start does not use the client',
  ],
  '8 token validity': [
    'test/gateway/token-source.test.ts › the token request has the method, path and body of the interface',
  ],
  '8 applicants per request': [
    'test/gateway/requests.test.ts › a report request needs one to four applicants with distinct identifiers and SSNs',
  ],
  '8 field lengths': [
    'test/gateway/interface-rows.test.ts › 2.3 applicants[].names[].first: is validated as its row requires',
  ],
  '8 rate limits': [
    'test/integration/priority-slow.test.ts › interactive journeys are sent before batches, end users take turns, and the rate limit holds',
    'test/workflows/failure-table.test.ts › 429 with Retry-After in seconds is followed by one more attempt, and one inquiry is posted',
  ],
  '8 payload size': [
    'test/gateway/gateway-wire.test.ts › the outcome is unknown and nothing is sent again if the answer is larger than the profile admits',
    'test/gateway/requests.test.ts › an applicant can have up to 20 names, 20 phones and 20 addresses',
  ],
  '9 version in the path': [
    'test/gateway/gateway-client.test.ts › the client builds the request path from the profile’s base URL and API version',
  ],
  '9 softwareProviderVersion': [
    'test/gateway/interface-answers.test.ts › 2.8 consumers[].softwareProviderVersion: is read unchanged, and another value changes the answer as listed',
  ],
};
