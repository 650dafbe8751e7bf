/** The tests that show each row and rule of the interface (docs/interface-coverage.md), as `file › title`. */

const ANSWERS = 'test/gateway/interface-answers.test.ts';
const ROWS = 'test/gateway/interface-rows.test.ts';

/** Tests that are written once for all rows of a table: their titles begin with the row. */
const BY_TITLE: readonly [row: RegExp, file: string, words: string][] = [
  [/^2\.1 \w+$/, ANSWERS, 'is never left out and never empty'],
  [/^2\.2 (?:access_token|expires_in|token_type)$/, ANSWERS, 'no token is taken from an answer without it'],
  [/^(?:2\.3|2\.6|4\.3) [\w.[\]]+$/, ROWS, 'is held to its row'],
  [/^2\.4 consumer\./, ANSWERS, 'is read as it came, and held where it is not as the interface shows it'],
  [/^2\.5 \w+RefId$/, ANSWERS, 'is read as it came, and leads to the entry of its own list'],
  [/^2\.5 names/, ANSWERS, 'is given to readers as it came, and decides nothing about the answer'],
  [/^2\.8 consumers\[\]\./, ANSWERS, 'is read as it came, and another value has its meaning'],
];

/** @param id section and row */
export function findTests(id: string, named = INTERFACE_TESTS): readonly string[] {
  const own = named[id] ?? [];
  const [, file, words] = BY_TITLE.find(([row]) => row.test(id)) ?? [];
  const hasAnother = own.some((test) => test.includes(`› ${id}: `));
  return file === undefined || hasAnother ? own : [`${file} › ${id}: ${words}`, ...own];
}

/** The others, by section and row. */
export const INTERFACE_TESTS: Readonly<Record<string, readonly string[]>> = {
  '1 JSON over HTTPS': [
    'test/gateway/gateway-tls.test.ts › sends over TLS where the profile brings the certificate authority',
    'test/config/config.test.ts › http goes to this machine alone',
  ],
  '1 one endpoint': [
    'test/gateway/gateway-client.test.ts › sends what the interface asks for, once, and returns outcome, reference and body',
  ],
  '1 bearer token': [
    'test/gateway/token-source.test.ts › asks as the interface says',
    'test/gateway/gateway-client.test.ts › sends what the interface asks for, once, and returns outcome, reference and body',
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
    'test/gateway/requests.test.ts › builds CR in the standard form, with nothing but its code to tell it apart',
    'test/gateway/requests.test.ts › builds REFUPD in the standard form, with nothing but its code to tell it apart',
  ],
  '1 what the code decides': [
    'test/activities/inquiry-request.test.ts › a purpose or an end user that the profile does not list for the product is not asked for',
    'test/workflows/pulls.test.ts › refuses another input or another product under an id that is taken',
  ],
  '1 SECONDUSE': [
    'test/workflows/lending-journey.test.ts › with two applicants makes one inquiry for each of three stages and a consented share',
    'test/cli/examples-slow.test.ts › SECONDUSE: its example in the README works',
    'test/workflows/share-report.test.ts › is posted once every applicant of a pull’s report consents',
  ],
  '1 a confirmation only': [
    'test/gateway/gateway-client.test.ts › posts a SECONDUSE and returns the reference of that posting',
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
    'test/model/standing.test.ts › silence is no grant, and a grant stands',
  ],
  '1 permissible purpose exists': [
    'test/gateway/interface-rows.test.ts › 2.6 permissiblePurposeCode: is held to its row',
  ],
  '1 FAILSAFE': [
    'test/workflows/pulls.test.ts › has FAILSAFE’s outcome and reference for each consumer',
    'test/cli/examples-slow.test.ts › FAILSAFE: its example in the README works',
  ],
  '1 Client Secret apart from it': [
    'test/config/config.test.ts › are read anew each time, without the newline at their end',
  ],
  '1 exchanged for a token': [
    'test/gateway/token-source.test.ts › fetches once for all who ask at once, and not again while the token is good',
  ],
  '2.1 audience': ['test/gateway/token-source.test.ts › asks as the interface says'],
  '2.1 grant_type': ['test/gateway/token-source.test.ts › asks as the interface says'],
  '2.1 client_id': ['test/gateway/token-source.test.ts › asks as the interface says'],
  '2.1 client_secret': [
    'test/gateway/token-source.test.ts › shows no secret, no token and nothing of the credentials’ own errors',
  ],
  '2.2 access_token': [
    'test/gateway/token-source.test.ts › takes no token from an answer that is none of a bearer token',
  ],
  '2.2 scope': ['test/gateway/interface-answers.test.ts › 2.2 scope: may be anything, since no request asks for one'],
  '2.2 expires_in': ['test/gateway/token-source.test.ts › asks as the interface says'],
  '2.2 token_type': ['test/gateway/token-source.test.ts › takes bearer in whatever case it is written'],
  '2.3 customerTraceNumber': [
    'test/activities/resent-attempts.test.ts › 2.3, 2.6: a resend goes under the new number, and what follows it by itself keeps that',
    'test/model/trace-number.test.ts › the same parts always give the same number, within the 28 of the 30 characters that the interface has',
  ],
  '2.3 endUserCode': [
    'test/gateway/requests.test.ts › 2.3: refuses an end user and a purpose of signs alone, and says what each must have',
  ],
  '2.3 permissiblePurposeCode': [
    'test/gateway/requests.test.ts › 2.3: refuses an end user and a purpose of signs alone, and says what each must have',
    'test/activities/inquiry-request.test.ts › a purpose or an end user that the profile does not list for the product is not asked for',
  ],
  '2.3 applicants[]': [
    'test/gateway/requests.test.ts › refuses no applicants, too many, two with one identifier and two with one SSN',
  ],
  '2.3 applicants[].ssn': ['test/gateway/requests.test.ts › refuses an SSN of zeros, and says where'],
  '2.3 applicants[].dob': ['test/gateway/requests.test.ts › refuses a birth date before 1900, and says where'],
  '2.3 applicants[].addresses[].state': ['test/gateway/requests.test.ts › writes state codes in capitals'],
  '2.3 applicants[].addresses[].zip': [
    'test/gateway/requests.test.ts › makes zip and zip4 of nine digits and of ZIP+4, with or without an agreeing zip4',
  ],
  '2.3 applicants[].addresses[].zip4': ['test/gateway/requests.test.ts › refuses a zip4 that contradicts the zip'],
  '2.3 characters of AN': [
    'test/activities/accents.test.ts › 2.3: a start with accents is refused by default, by path, with what is assumed and without the value',
    'test/activities/accents.test.ts › 2.3: a profile may send names and addresses without accents',
    'test/activities/accents.test.ts › 2.3: a profile may pass accents on',
  ],
  '2.3 lengths: maximum or exact': [
    'test/gateway/interface-rows.test.ts › 2.3 applicants[].names[].first: is held to its row',
  ],
  '2.3 lists of purposes and states': [
    'test/activities/inquiry-request.test.ts › a purpose or an end user that the profile does not list for the product is not asked for',
  ],
  '2.4 returnCode': [
    'test/gateway/answers.test.ts › holds an answer without a return code, or with an unprintable one',
    'test/gateway/answers.test.ts › reads No Record as noRecord, without a reference',
  ],
  '2.4 reportReferenceNumber': [
    'test/gateway/answers.test.ts › holds a record without a reference number, or with one that is too long',
  ],
  '2.4 applicants[]': [
    'test/gateway/who-is-who.test.ts › holds more or fewer applicants than were asked for',
    'test/gateway/answers.test.ts › normalises a record of two applicants, in whatever order they come',
    'test/gateway/matching-properties.test.ts › whatever an answer lacks, no consumerId is given to another applicant than its own',
  ],
  '2.4 applicants[].consumerId': [
    'test/gateway/answers.test.ts › holds a record without a consumerId, with one that is too long, and with one for two people',
    'test/gateway/matching-properties.test.ts › whatever an answer lacks, no consumerId is given to another applicant than its own',
  ],
  '2.4 applicants[].consumer': [
    'test/gateway/answers.test.ts › passes over no report that came under a code without a record, in an entry or beside them',
    'test/gateway/answer-properties.test.ts › for any mix no report and no consumerId is lost, and none is given to another applicant',
    'test/gateway/answers.test.ts › holds a record whose consumer is missing, empty or not as the interface shows one',
    'test/workflows/pulls.test.ts › pulls CR once, and keeps its report and its reference',
    'test/gateway/answers.test.ts › keeps what it does not know, and the reasons that the provider is known to give',
  ],
  '2.4 consumer.ssn': [
    'test/gateway/who-is-who.test.ts › matches by SSN where no applicantId comes, with dashes, as a number, or masked',
  ],
  '2.4 stored: reportReferenceNumber': [
    'test/workflows/pulls.test.ts › pulls CR once, and keeps its report and its reference',
  ],
  '2.4 stored: consumerId of each': [
    'test/gateway/answers.test.ts › keeps the consumerId of an answer without a record: by 2.4 it must be stored too',
    'test/workflows/lending-journey.test.ts › with two applicants makes one inquiry for each of three stages and a consented share',
    'test/workflows/share-report.test.ts › accepts a report given in full only as the ledger has it: same run, applicants and consumers',
  ],
  '2.4 stored: when it was asked': [
    'test/gateway/gateway-client.test.ts › sends what the interface asks for, once, and returns outcome, reference and body',
  ],
  '2.4 full field list, code lists': [
    'test/gateway/answers.test.ts › keeps what it does not know, and the reasons that the provider is known to give',
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
    'test/gateway/interface-answers.test.ts › 2.5 consumerNameRefId: is read as it came, and leads to the entry of its own list',
    'test/gateway/interface-answers.test.ts › does not choose between two entries with one refId',
    'test/changes/changes-between.test.ts › says under which identification a new tradeline came in, where a reference update tells it',
  ],
  '2.5 meaning of 0': ['test/gateway/interface-answers.test.ts › takes 0 for none, even where an entry has it'],
  '2.6 customerTraceNumber': ['test/model/trace-number.test.ts › each part counts, and parts are kept apart'],
  '2.6 endUserCode': ['test/gateway/requests.test.ts › needs an end user code or a name, and may have both'],
  '2.6 endUser': ['test/gateway/requests.test.ts › needs an end user code or a name, and may have both'],
  '2.6 productCode': [
    'test/gateway/interface-rows.test.ts › 2.6 productCode: is SECONDUSE, and no caller can say otherwise',
  ],
  '2.6 accessMethod': [
    'test/gateway/interface-rows.test.ts › 2.6 accessMethod: is ID, and no caller can say otherwise',
  ],
  '2.6 originalInquiryDate': [
    'test/gateway/interface-rows.test.ts › 2.6 originalInquiryDate: is YYYY-MM-DD HH:MM:SS within its 20 characters, and of no instant that is none',
    'test/gateway/requests.test.ts › builds a share by ID, with the moment truncated and written in the profile’s time zone',
  ],
  '2.6 applicants[]': [
    'test/workflows/consents.test.ts › is denied by one of two applicants, whose grant was dated ahead within the tolerance',
  ],
  '2.6 applicants[].consumerId': [
    'test/gateway/requests.test.ts › refuses a share of the future, and points into the reference that it was given',
  ],
  '2.7 returnCode': ['test/gateway/answers.test.ts › knows a share as posted by Record alone'],
  '2.7 reportReferenceNumber': [
    'test/gateway/answers.test.ts › holds a confirmation without a reference, or for a consumer who was not shared',
    'test/gateway/gateway-client.test.ts › posts a SECONDUSE and returns the reference of that posting',
  ],
  '2.7 differs, and is stored': [
    "test/gateway/answers.test.ts › holds a confirmation under the number of the report that was shared: it is none of the share's own",
    'test/workflows/lending-journey.test.ts › with two applicants makes one inquiry for each of three stages and a consented share',
  ],
  '2.8 consumers[]': [
    'test/gateway/answers.test.ts › reads entries from consumers as from applicants',
    'test/workflows/pulls.test.ts › has FAILSAFE’s outcome and reference for each consumer',
  ],
  '2.8 consumers[].customerTraceNumber': [
    'test/gateway/answer-properties.test.ts › for any mix of echoes one that names another request is a hold, and every other difference is told',
  ],
  '2.8 consumers[].reportReferenceNumber': [
    'test/gateway/answers.test.ts › tells FAILSAFE entries that agree on Record for nobody in particular, and says that they are not attributable',
  ],
  '2.8 consumers[].productCode': [
    'test/gateway/answer-properties.test.ts › for any mix of echoes one that names another request is a hold, and every other difference is told',
  ],
  '2.8 consumers[].customerId': [
    'test/gateway/answer-properties.test.ts › for any mix of echoes one that names another request is a hold, and every other difference is told',
  ],
  '2.8 consumers[].applicantId': [
    'test/gateway/answers.test.ts › holds FAILSAFE entries whose outcomes differ, whatever ids the gateway gave them',
  ],
  '2.8 consumers[].consumerId': [
    'test/gateway/answers.test.ts › holds a consumerId for two people of whom one has no record: it may be that of either',
  ],
  '2.8 consumers[].returnCode': [
    "test/gateway/answers.test.ts › reads FAILSAFE's own shape: outcome, number and consumer of the only applicant",
  ],
  '3 codes are outcomes': [
    'test/gateway/answers.test.ts › reads No Record as noRecord, without a reference',
    'test/workflows/lending-journey.test.ts › stops after a stage without a record, or continues if its input says so',
  ],
  '3 transitions': [
    'test/workflows/failure-table.test.ts › no answer, posted becomes a hold: OutcomeUnknown, after one request',
  ],
  '4.1 method': ['test/gateway/token-source.test.ts › asks as the interface says'],
  '4.1 path': ['test/gateway/token-source.test.ts › asks as the interface says'],
  '4.1 headers': ['test/gateway/token-source.test.ts › asks as the interface says'],
  '4.1 request body': ['test/gateway/token-source.test.ts › asks as the interface says'],
  '4.1 response body': ['test/gateway/token-source.test.ts › asks as the interface says'],
  '4.2 method': [
    'test/gateway/gateway-client.test.ts › sends what the interface asks for, once, and returns outcome, reference and body',
  ],
  '4.2 path': [
    'test/gateway/gateway-client.test.ts › sends what the interface asks for, once, and returns outcome, reference and body',
    'test/gateway/gateway-client.test.ts › puts the version of the request path where the profile says',
  ],
  '4.2 headers': [
    'test/gateway/gateway-client.test.ts › sends what the interface asks for, once, and returns outcome, reference and body',
    'test/gateway/gateway-client.test.ts › sends nothing with a token that cannot stand in a header',
  ],
  '4.2 request body': [
    'test/gateway/interface-rows.test.ts › 2.3 applicants[].names[].first: is held to its row',
    'test/gateway/interface-rows.test.ts › 2.3 applicants[].names[].first: is held to its row',
    'test/gateway/interface-rows.test.ts › 2.3 applicants[].names[].first: is held to its row',
  ],
  '4.2 response body': [
    'test/gateway/gateway-client.test.ts › sends what the interface asks for, once, and returns outcome, reference and body',
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
    'test/gateway/interface-rows.test.ts › 2.6 accessMethod: is ID, and no caller can say otherwise',
  ],
  '4.2 rule 2: not in the future': [
    'test/activities/inquiry-request.test.ts › a share’s originalInquiryDate is never in the future, also where the ledger’s clock is ahead',
    'test/gateway/requests.test.ts › refuses a share of the future, and points into the reference that it was given',
  ],
  '4.2 rule 3: the moment of the use': [
    'test/activities/inquiry-request.test.ts › a share’s originalInquiryDate is the moment when its attempt was claimed, a few seconds back, however late it is sent',
    'test/activities/resent-attempts.test.ts › 2.6, rule 3: a share names the moment of the attempt that posted, not that of the first',
    'test/activities/inquiry-request.test.ts › a share’s originalInquiryDate is the original request’s where the profile says so',
  ],
  '4.2 rule 4: each is an inquiry': [
    'test/workflows/bending-journeys.test.ts › shares one report with several investors, each with consents of its own',
    'test/model/trace-number.test.ts › each part counts, and parts are kept apart',
    'test/workflows/share-report.test.ts › works without its journey’s history, for two secondary users with a consent each',
  ],
  '4.2 rule 5: code or name': ['test/gateway/requests.test.ts › needs an end user code or a name, and may have both'],
  '4.3 productCode': [
    'test/gateway/interface-rows.test.ts › 4.3 productCode: is FAILSAFE, and no caller can say otherwise',
  ],
  '4.3 without seven fields': [
    'test/gateway/interface-rows.test.ts › 4.3: carries none of the seven fields that the sample leaves out, though its caller gives an applicant whole',
  ],
  '4.3 required and optional': [
    'test/gateway/requests.test.ts › builds FAILSAFE from the fields of the sample and no others',
    'test/gateway/requests.test.ts › builds FAILSAFE from the fields of the sample and no others',
    'test/gateway/interface-rows.test.ts › 2.3 applicants[].names[].first: is held to its row',
  ],
  '5 1 client credentials': ['test/gateway/token-source.test.ts › asks as the interface says'],
  '5 2 the answer': [
    'test/gateway/token-source.test.ts › asks as the interface says',
    'test/gateway/token-source.test.ts › takes no token from an answer that is none of a bearer token',
  ],
  '5 3 the header': [
    'test/gateway/gateway-client.test.ts › sends what the interface asks for, once, and returns outcome, reference and body',
  ],
  '5 4 of a user ID': [
    'test/config/profiles-file.test.ts › gives profiles credentials of their own, shared by name',
    'test/gateway/token-source.test.ts › keeps the tokens of profiles apart',
  ],
  '5 5 delivered apart': [
    'test/config/start-up-rules.test.ts › a client secret in a variable: refused by production alone',
  ],
  '5 6 separate addresses': [
    'test/config/profiles-file.test.ts › refuses a host that two environments share',
    'test/hazards/ledger-profile-changed-slow.test.ts › with another gateway address holds what began before, sends nothing, and goes on once it is back',
  ],
  '5 7 refresh and revocation': [
    'test/gateway/token-source.test.ts › renews before the end, with jitter',
    'test/gateway/token-source.test.ts › fetches again after a token was refused, and keeps a newer one',
  ],
  '5 7 missing or expired token': [
    'test/workflows/failure-table.test.ts › 401 until the token is renewed is followed by one more attempt, and one inquiry is posted',
    'test/workflows/failure-table.test.ts › a second 401, with a new token, becomes a hold',
  ],
  '6 no events': [
    'test/workflows/failure-table.test.ts › no answer, posted becomes a hold: OutcomeUnknown, after one request',
    'test/workflows/failure-table.test.ts › sends the request once more with the same trace number if it is resend',
  ],
  '7 1 every answer has a returnCode': [
    'test/gateway/answer-properties.test.ts › for any mix of entries and codes each outcome is what the text says, or a person is asked',
    'test/gateway/entry-meanings.test.ts › docs/protocol.md prints the tables as they are',
    'test/gateway/answers.test.ts › holds an answer without a return code, or with an unprintable one',
    'test/gateway/answers.test.ts › holds a top-level code that the entries contradict',
  ],
  '7 2 values seen': [
    'test/gateway/answers.test.ts › reads No Record as noRecord, without a reference',
    'test/gateway/gateway-client.test.ts › sends what the interface asks for, once, and returns outcome, reference and body',
  ],
  '7 3 the complete list': [
    'test/workflows/failure-table.test.ts › an unknown returnCode becomes a hold: ReturnCodeUnknown, after one request',
    'test/gateway/answers.test.ts › lets the profile give a code a meaning, or another meaning',
    'test/workflows/lending-journey.test.ts › holds an inquiry with Suppress, a code that the interface does not explain (7.3), until a decision',
  ],
  '7 4 HTTP statuses': [
    'test/gateway/gateway-client.test.ts › treats status 503 as OutcomeUnknown, after exactly one request',
    'test/gateway/gateway-client.test.ts › treats status 401 as OutcomeUnknown where [] mean "not processed"',
  ],
  '7 5 shape of an error body': [
    'test/gateway/gateway-client.test.ts › knows a refusal by its status even where its body breaks off',
    'test/workflows/failure-table.test.ts › is kept encrypted, and the hold says so: RequestRefused',
  ],
  '7 6 what breaks the rules': [
    'test/workflows/lending-journey.test.ts › fails with every problem of an invalid input, before it sends anything',
    'test/workflows/pulls.test.ts › is checked by its worker also if the start does not use the client',
  ],
  '8 token validity': ['test/gateway/token-source.test.ts › asks as the interface says'],
  '8 applicants per request': [
    'test/gateway/requests.test.ts › refuses no applicants, too many, two with one identifier and two with one SSN',
  ],
  '8 field lengths': ['test/gateway/interface-rows.test.ts › 2.3 applicants[].names[].first: is held to its row'],
  '8 rate limits': [
    'test/integration/priority-slow.test.ts › interactive journeys come before batches, end users take turns, and the limit holds',
    'test/workflows/failure-table.test.ts › 429 with Retry-After in seconds is followed by one more attempt, and one inquiry is posted',
  ],
  '8 payload size': [
    'test/gateway/gateway-wire.test.ts › does not know the outcome where the answer is larger than the profile admits, and sends nothing again',
    'test/gateway/requests.test.ts › takes 20 names, phones and addresses of one applicant, and not one more',
  ],
  '9 version in the path': [
    'test/gateway/gateway-client.test.ts › puts the version of the request path where the profile says',
  ],
  '9 softwareProviderVersion': [
    'test/gateway/interface-answers.test.ts › 2.8 consumers[].softwareProviderVersion: is read as it came, and another value has its meaning',
  ],
};
