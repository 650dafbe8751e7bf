/**
 * Loaded before the worker's own program (`node --import`): bugs that throw what they work on, by the last four digits
 * of the first applicant's SSN. Everything else is the worker as it is.
 */
import { GatewayClient } from '../../../src/gateway/gateway-client.ts';
import { SqlLedger } from '../../../src/ledger/ledger.ts';

/** In the middle of an attempt that is claimed. */
export const ATTEMPT_BUG = '7001';
/** An uncaught error: the process ends. */
export const CRASH_BUG = '7002';
/** The id prefix of journeys whose first claim fails. */
export const CLAIM_BUG_PREFIX = 'BUG-';

const { submit } = GatewayClient.prototype;
GatewayClient.prototype.submit = async function (options) {
  const { request } = options;
  const ssn = request.productCode === 'SECONDUSE' ? '' : (request.applicants[0]?.ssn ?? '');
  const quoting = () => new TypeError(`cannot read ${JSON.stringify(options)}`, { cause: options });
  if (ssn.endsWith(ATTEMPT_BUG)) throw Object.assign(quoting(), { name: ssn, code: ssn, options });
  if (ssn.endsWith(CRASH_BUG)) {
    setImmediate(() => {
      throw quoting();
    });
    return new Promise(() => {});
  }
  return submit.call(this, options);
};

const failed = new Set<string>();
const { claim } = SqlLedger.prototype;
SqlLedger.prototype.claim = async function (request) {
  const { runKey } = request.inquiry;
  if (runKey.startsWith(CLAIM_BUG_PREFIX) && !failed.has(runKey)) {
    failed.add(runKey);
    throw new Error(`the secret is ${process.env.GATEWAY_CLIENT_SECRET}, and the digest ${request.digest}`);
  }
  return claim.call(this, request);
};
