import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSampleJourney, createSamplePull } from '../../src/cli/demo/sample-runs.ts';
import { findMadeUpProblems, SSNS_WITH_NINE } from '../../src/gateway/made-up-applicants.ts';
import { REPORT_PRODUCTS } from '../../src/model/products.ts';
import { applicant } from './fixtures.ts';

const pathsOf = (...args: Parameters<typeof findMadeUpProblems>) => findMadeUpProblems(...args).map(({ path }) => path);

test('the samples’ own applicants are refused outside the sandbox for every setting of ssnsWithNine', () => {
  for (const loseAnswer of [false, true]) {
    const samples = [
      createSampleJourney({ journeyId: 'J', auto: true, loseAnswer }),
      ...[...REPORT_PRODUCTS, 'FAILSAFE' as const].map((productCode) =>
        createSamplePull({ pullId: 'P', productCode, loseAnswer }),
      ),
    ];
    for (const { applicants } of samples) {
      const each = applicants.map((_, index) => `/applicants/${index}`);
      for (const ssnsWithNine of SSNS_WITH_NINE) {
        assert.deepEqual(pathsOf({ environment: 'uat', ssnsWithNine }, applicants), each);
        assert.deepEqual(pathsOf({ environment: 'production', ssnsWithNine }, applicants), each);
        assert.deepEqual(pathsOf({ environment: 'sandbox', ssnsWithNine }, applicants), []);
      }
    }
  }
});

test('an SSN that starts with 9 is sent only if the profile allows it', () => {
  const cases: [ssn: string, refuse: boolean, itinOnly: boolean, send: boolean][] = [
    // Area 000 is never issued either, but only the gateway refuses it.
    ['000110001', true, true, true],
    ['912345678', false, false, true],
    ['900110001', false, false, true],
    // ITINs and ATINs, at the edges of each range of the fourth and fifth digit.
    ...['50', '65', '70', '88', '90', '92', '93', '94', '99'].map((group): [string, boolean, boolean, boolean] => [
      `912${group}0001`,
      false,
      true,
      true,
    ]),
    ...['00', '49', '66', '69', '89'].map((group): [string, boolean, boolean, boolean] => [
      `912${group}0001`,
      false,
      false,
      true,
    ]),
  ];
  for (const [ssn, ...sent] of cases) {
    for (const [index, ssnsWithNine] of SSNS_WITH_NINE.entries()) {
      const paths = pathsOf({ environment: 'uat', ssnsWithNine }, [applicant({ ssn })]);
      assert.deepEqual(paths, sent[index] ? [] : ['/applicants/0/ssn'], `${ssn} ${ssnsWithNine}`);
    }
  }
});

test('the refusal of a made-up applicant contains no value', () => {
  const [problem] = findMadeUpProblems({ environment: 'uat', ssnsWithNine: 'refuse' }, [
    applicant({ ssn: '912345678' }),
  ]);
  assert.doesNotMatch(JSON.stringify(problem), /912345678/);
});
