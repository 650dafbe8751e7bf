/** Reports for tests of what changed: small alphabets, so that keys are shared and figures meet. */
import fc from 'fast-check';
import type { ConsumerAccount, GatewayResponse, ResponseEntry } from '../../src/gateway/responses.ts';

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 6 });

const figure = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('0', '100', '100.00', '0250.50', '-12.5', '99999999999999999999.01') },
  { weight: 2, arbitrary: fc.bigInt({ min: 0n, max: 10n ** 12n }).map(String) },
  { weight: 1, arbitrary: fc.constantFrom('1,200', 'n/a', '1e9', '', '12.') },
);

const reference = fc.record({
  consumerNameRefId: fc.integer({ min: 0, max: 4 }),
  consumerAddressRefId: fc.integer({ min: 0, max: 4 }),
  consumerPhoneNbrRefId: fc.constant(0),
});

const account: fc.Arbitrary<ConsumerAccount> = fc
  .record({
    contributor: fc.constantFrom('BANK A', 'bank  a', 'BANK B'),
    accountNumber: fc.constantFrom('XX11', 'XX22'),
    type: maybe(fc.constantFrom('01', '07')),
    opened: maybe(fc.constantFrom('2019-05-01', '2024-09-30')),
    balance: maybe(figure),
    creditLimit: maybe(figure),
    statusCode: maybe(fc.constantFrom('11', '13', '61', '71')),
    accountCrossReference: maybe(reference),
  })
  .map((found) => JSON.parse(JSON.stringify(found)) as ConsumerAccount);

const name = fc.record({
  first: fc.constantFrom('ADA', 'Ada', 'A'),
  last: fc.constantFrom("O'BRIEN", 'OBRIEN'),
  refId: fc.integer({ min: 0, max: 4 }),
});

const address = fc.record({
  line1: fc.constantFrom('1 MAIN ST', '1  Main St', '2 SIDE ST'),
  zip: fc.constantFrom('20001', '20001-1234', '30301'),
  refId: fc.integer({ min: 0, max: 4 }),
});

/** A person. The same number gives the same ids in every report. */
const entry = (person: number): fc.Arbitrary<ResponseEntry> =>
  fc.record({
    applicantId: fc.constant(`${person}A`),
    consumerId: fc.constant(`C${person}`),
    consumer: fc.record({
      names: fc.array(name, { maxLength: 4 }),
      addresses: fc.array(address, { maxLength: 4 }),
      accounts: fc.array(account, { maxLength: 8 }),
    }),
  });

export const anyReport: fc.Arbitrary<GatewayResponse> = fc
  .subarray([1, 2, 3])
  .chain((people) => fc.tuple(...people.map(entry)))
  .map((applicants) => ({ returnCode: 'Record', applicants }));

/** The same report with every list in another order. */
export function reordered(report: GatewayResponse, seed: number): GatewayResponse {
  return {
    ...report,
    applicants: shuffled(report.applicants, seed).map((one) => {
      const { names = [], addresses = [], accounts = [], ...rest } = one.consumer ?? {};
      const lists = {
        names: shuffled(names, seed + 1),
        addresses: shuffled(addresses, seed + 2),
        accounts: shuffled(accounts, seed + 3),
      };
      return { ...one, consumer: { ...rest, ...lists } };
    }),
  };
}

function shuffled<T>(list: readonly T[], seed: number): T[] {
  let state = (seed % 2147483646) + 1;
  const weighed = list.map((item) => {
    state = (state * 48271) % 2147483647;
    return { item, weight: state };
  });
  return weighed.sort((one, other) => one.weight - other.weight).map(({ item }) => item);
}

export function reportOf(consumer: NonNullable<ResponseEntry['consumer']>): GatewayResponse {
  return { returnCode: 'Record', applicants: [{ applicantId: '1A', consumerId: 'C1', consumer }] };
}
