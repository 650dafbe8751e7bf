/** A server that answers the real SDK as AWS KMS does: keys, aliases, contexts and refusals. */
import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

const REGION = 'eu-west-1';
const NONCE = 12;
const TAG = 16;

interface Asked {
  KeyId: string;
  Plaintext?: string;
  CiphertextBlob?: string;
  EncryptionContext: Record<string, string>;
}

export type KmsServer = Awaited<ReturnType<typeof startKmsServer>>;

export async function startKmsServer() {
  const keys = new Map<string, Buffer>();
  const aliases = new Map<string, string>();
  let refusal: { status: number; type: string } | undefined;

  const answer = (operation: string, asked: Asked): object | string => {
    const arn = aliases.get(asked.KeyId) ?? asked.KeyId;
    const key = keys.get(arn);
    if (!key) return 'NotFoundException';
    const bound = Buffer.from(JSON.stringify([arn, Object.entries(asked.EncryptionContext).toSorted()]));
    if (operation === 'Encrypt') {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound);
      const parts = [nonce, cipher.update(asked.Plaintext ?? '', 'base64'), cipher.final(), cipher.getAuthTag()];
      return { CiphertextBlob: Buffer.concat(parts).toString('base64'), KeyId: arn };
    }
    const sealed = Buffer.from(asked.CiphertextBlob ?? '', 'base64');
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE)).setAAD(bound);
    decipher.setAuthTag(sealed.subarray(-TAG));
    try {
      const opened = Buffer.concat([decipher.update(sealed.subarray(NONCE, -TAG)), decipher.final()]);
      return { Plaintext: opened.toString('base64'), KeyId: arn };
    } catch {
      return 'InvalidCiphertextException';
    }
  };

  const server = createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).replace('TrentService.', '');
    const found = answer(operation, (await json(request)) as Asked);
    const { status, type } = refusal ?? { status: 400, type: found };
    const isRefused = typeof type === 'string';
    response.writeHead(isRefused ? status : 200, { 'Content-Type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(isRefused ? { __type: type, message: 'SENTINEL-TEXT' } : found));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    /** The variables that the SDK reads, for this process or another. */
    env: {
      AWS_ENDPOINT_URL_KMS: `http://127.0.0.1:${port}`,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: 'AKIATEST',
      AWS_SECRET_ACCESS_KEY: 'test-secret',
      // Nothing of the machine that the tests run on.
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    },
    /** Makes a key, and returns its ARN. */
    createKey(): string {
      const arn = `arn:aws:kms:${REGION}:123456789012:key/${randomUUID()}`;
      keys.set(arn, randomBytes(32));
      return arn;
    },
    pointAlias: (alias: string, arn: string) => void aliases.set(alias, arn),
    /** Refuses every request from now on; without an argument it answers again. */
    refuse(type?: string, status = 400): void {
      refusal = type === undefined ? undefined : { status, type };
    },
    stop(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}
