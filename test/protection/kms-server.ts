/** AWS KMS as `moto` plays it: a server of its own, on a port of its own, that answers the real SDK. */
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startOwnedChild } from '../../src/local/child-process.ts';
import { pythonRequirements } from '../support/python.ts';

const REQUIREMENTS = fileURLToPath(new URL('./kms-server-requirements.txt', import.meta.url));
const PROGRAM = `
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
import sys
server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
`;

export interface KmsServer {
  url: string;
  /** What the SDK reads; to be given to this process or to another. */
  env: Record<string, string>;
  /** A new key's ARN. */
  createKey(): Promise<string>;
  pointAlias(alias: string, keyArn: string): Promise<void>;
  /** Credentials that the server knows, and allows nothing. */
  createStranger(): Promise<Record<string, string>>;
  /** From now on callers need rights. */
  enforceRights(isEnforced: boolean): Promise<void>;
  stop(): Promise<void>;
}

const REGION = 'eu-west-1';

export async function startKmsServer(): Promise<KmsServer> {
  const packages = await pythonRequirements(REQUIREMENTS);
  const child = await startOwnedChild('python3', ['-c', PROGRAM], {
    env: { ...process.env, PYTHONPATH: packages },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  child.process.stderr?.on('data', (chunk) => said.push(String(chunk)));
  const port = await firstLine(child.process.stdout as NodeJS.ReadableStream);
  if (!port) throw new Error(`moto did not start: ${said.join('').slice(-2_000)}`);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    env: {
      AWS_ENDPOINT_URL_KMS: url,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: 'AKIATEST',
      AWS_SECRET_ACCESS_KEY: 'test-secret',
      // Nothing of the machine that the tests run on.
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    },
    createKey: async () => (await callKms(url, 'CreateKey', {})).KeyMetadata.Arn,
    async pointAlias(alias, keyArn) {
      await callKms(url, 'DeleteAlias', { AliasName: alias }).catch(() => {});
      await callKms(url, 'CreateAlias', { AliasName: alias, TargetKeyId: keyArn });
    },
    async createStranger() {
      await callIam(url, 'CreateUser');
      const answer = await callIam(url, 'CreateAccessKey');
      return {
        AWS_ACCESS_KEY_ID: /<AccessKeyId>(.*?)</.exec(answer)?.[1] ?? '',
        AWS_SECRET_ACCESS_KEY: /<SecretAccessKey>(.*?)</.exec(answer)?.[1] ?? '',
      };
    },
    async enforceRights(isEnforced) {
      await fetch(`${url}/moto-api/reset-auth`, { method: 'POST', body: isEnforced ? '0' : 'inf' });
    },
    stop: () => child.stop(5_000),
  };
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input: stream })) return line;
  return undefined;
}

const scope = (service: string) =>
  `AWS4-HMAC-SHA256 Credential=AKIATEST/20260101/${REGION}/${service}/aws4_request, SignedHeaders=host, Signature=0`;

async function callKms(url: string, action: string, body: object) {
  const headers = { 'X-Amz-Target': `TrentService.${action}`, 'Content-Type': 'application/x-amz-json-1.1' };
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, Authorization: scope('kms') },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${action} was answered with ${response.status}`);
  const text = await response.text();
  return text === '' ? {} : JSON.parse(text);
}

async function callIam(url: string, action: string): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: scope('iam') },
    body: new URLSearchParams({ Action: action, UserName: 'stranger', Version: '2010-05-08' }),
  });
  if (!response.ok) throw new Error(`${action} was answered with ${response.status}`);
  return response.text();
}
