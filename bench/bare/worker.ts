/** The worker of the bare contender, as a process of its own: `node bench/bare/worker.ts <workflow bundle>`. */
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { Agent, request } from 'undici';
import { omitUndefined } from '../../src/base/defined.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { BareActivities } from './contract.ts';

const [bundle = ''] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: 'ERROR' } } });
const config = loadConfig(process.env);
const profile = config.profiles.get('default');
if (!profile) throw new Error('no default profile');
const dispatcher = new Agent({ connections: profile.limits.connections });
let token: Promise<string> | undefined;

/** Fetches the token once and keeps it, as a simple implementation would. */
async function fetchToken(): Promise<string> {
  const { clientId, clientSecret } = await profileCredentials();
  const { body } = await request(`${profile?.authUrl}/oauth/token`, {
    method: 'POST',
    dispatcher,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      audience: profile?.audience,
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    }),
  });
  return ((await body.json()) as { access_token: string }).access_token;
}

async function profileCredentials(): Promise<{ clientId: string; clientSecret: string }> {
  const { GATEWAY_CLIENT_ID: clientId = '', GATEWAY_CLIENT_SECRET: clientSecret = '' } = process.env;
  return { clientId, clientSecret };
}

const activities: BareActivities = {
  async acquireToken() {
    token ??= fetchToken();
    await token;
  },
  async pull({ productCode, customerTraceNumber, endUserCode, permissiblePurposeCode, applicants }) {
    token ??= fetchToken();
    const { statusCode, body } = await request(`${profile.baseUrl}/ServiceGateway/orest/grs_v001/request`, {
      method: 'POST',
      dispatcher,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await token}` },
      body: JSON.stringify({
        customerId: profile.customerId,
        softwareProviderId: profile.softwareProviderId,
        customerTraceNumber,
        productCode,
        endUserCode,
        permissiblePurposeCode,
        applicants,
      }),
    });
    const answer = (await body.json()) as { reportReferenceNumber?: string };
    if (statusCode !== 200 || !answer.reportReferenceNumber) throw new Error(`the gateway said ${statusCode}`);
    return answer.reportReferenceNumber;
  },
};

const connection = await NativeConnection.connect({
  ...config.temporal.connectionOptions,
  // As the journey's worker has it.
  grpcCompression: { codec: 'none' },
});
const worker = await Worker.create({
  connection,
  namespace: config.temporal.namespace,
  taskQueue: config.taskQueue,
  workflowBundle: { codePath: bundle },
  activities: { ...activities },
  // The same as for the journey's worker, so that neither replays what the other keeps.
  ...omitUndefined({ maxCachedWorkflows: config.worker.maxCachedWorkflows }),
  maxConcurrentWorkflowTaskExecutions: config.worker.maxConcurrentWorkflowTasks,
  maxConcurrentActivityTaskExecutions: config.worker.maxConcurrentActivities,
  stickyQueueScheduleToStartTimeout: 3_000,
});
process.once('SIGTERM', () => worker.shutdown());
const done = worker.run();
console.log(JSON.stringify({ ready: true }));
await done;
await connection.close();
process.exit(0);
