/** The reports of a loan, by the typed client: docs/first-program.md */
import { readFileSync } from 'node:fs';
import { CreditJourneyError, CreditJourneys, type LendingJourneyInput } from 'credit-journey';
import type { paths } from 'credit-journey/api';
import createClient from 'openapi-fetch';

const application = JSON.parse(readFileSync('examples/journey.json', 'utf8')) as LendingJourneyInput;
await using journeys = await CreditJourneys.connect();

const journey = await journeys.start({ ...application, journeyId: 'LOAN-20' });
console.log(journey.isNew ? 'started' : 'known');

for await (const status of journey.watch()) {
  if (status.state === 'held') console.log(`a person must decide: ${status.holds[0]?.failureType}`);
  else if (status.state !== 'running') break;
}

const authorization = `Bearer ${readFileSync(process.env.API_TOKEN_FILE ?? '', 'utf8').trim()}`;
const api = createClient<paths>({ baseUrl: process.env.API_URL ?? '', headers: { authorization } });
const path = { runKey: 'LOAN-20', productCode: 'PREQUAL' } as const;
const { data, error } = await api.GET('/v1/runs/{runKey}/reports/{productCode}', { params: { path } });
if (error) throw new Error(`${error.code}: ${error.detail}`);
console.log('report', data.customerTraceNumber, data.redacted ? 'masked' : 'whole');

await journey.advance({ to: 'PREAPP' });
const { duplicate } = await journey.advance({ to: 'PREAPP' });
console.log(duplicate ? 'passed before' : 'passed');

const renewed = { by: 'underwriting', reason: 'the offer was renewed' };
await journey.advance({ repeat: 'PREAPP', occurrence: 2, ...renewed });

try {
  await journeys.start({ ...application, journeyId: 'LOAN-20', endUserCode: 'EU124' });
} catch (error) {
  if (!(error instanceof CreditJourneyError)) throw error;
  console.log('refused', error.code);
}
