/** AWS KMS, which may wrap the key ring's keys. Its SDK is an optional package that only this file loads, on demand. */
import type { KMSServiceException as ServiceException } from '@aws-sdk/client-kms';
import { isLoopback } from '../../base/loopback.ts';
import { KmsError } from '../errors.ts';

const AWS_KMS = 'aws-kms:';
/** A key's ARN, an alias' ARN, an alias or a key id. */
const AWS_KMS_KEY =
  /^(?:arn:aws[a-z-]*:kms:[a-z0-9-]{1,32}:\d{12}:(?:key\/[A-Za-z0-9-]{1,64}|alias\/[\w/-]{1,250})|alias\/[\w/-]{1,250}|[A-Za-z0-9-]{1,64})$/;

export const KMS_NAME_RULE = `must be ${AWS_KMS} and a key's or an alias' ARN, alias/<name> or a key id`;

export function isKmsName(name: string): boolean {
  return name.startsWith(AWS_KMS) && AWS_KMS_KEY.test(name.slice(AWS_KMS.length));
}

/** The service of that name; opened once within `withKeyServices`. */
export type KeyServiceOf = (name: string) => Promise<KeyManagementService>;

/** Opens the services that `work` needs, and closes them after it. */
export async function withKeyServices<T>(work: (serviceOf: KeyServiceOf) => Promise<T>): Promise<T> {
  const opened = new Map<string, Promise<KeyManagementService>>();
  try {
    return await work((name) => {
      const known = opened.get(name) ?? openKeyService(name);
      opened.set(name, known);
      return known;
    });
  } finally {
    for (const service of await Promise.allSettled(opened.values())) {
      if (service.status === 'fulfilled') service.value.close();
    }
  }
}

type KeyManagementService = Awaited<ReturnType<typeof openKeyService>>;

/** KMS answers within some ten milliseconds, or some hundred from another continent. */
const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 5_000;
/** Throttling and lost connections end within moments or last long. After three attempts the caller gets the error. */
const MAX_ATTEMPTS = 3;

/**
 * Opens AWS KMS with the credentials that the SDK finds (docs/configuration.md). It wraps and unwraps the key ring's
 * keys. Bytes that were wrapped under one context open under no other. KMS logs contexts, so nothing in a context is
 * secret.
 *
 * @throws KmsError where the package or the region is missing
 */
async function openKeyService(name: string) {
  if (!isKmsName(name)) throw new KmsError(`its name ${KMS_NAME_RULE}`);
  const KeyId = name.slice(AWS_KMS.length);
  const sdk = await import('@aws-sdk/client-kms').catch(() => {
    throw new KmsError('the package @aws-sdk/client-kms is missing: `npm install @aws-sdk/client-kms`');
  });
  const client = new sdk.KMSClient({
    ...(KeyId.startsWith('arn:') && { region: KeyId.split(':')[3] }),
    maxAttempts: MAX_ATTEMPTS,
    // Without `throwOnRequestTimeout` the SDK only warns.
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  });
  // Requests and answers contain keys. Checks each request itself, because the SDK takes addresses from many places.
  client.middlewareStack.add(
    (next) => async (args) => {
      const { protocol, hostname } = args.request as { protocol: string; hostname: string };
      if (protocol !== 'https:' && !isLoopback(hostname)) throw new KmsError(INSECURE);
      return next(args);
    },
    { step: 'build' },
  );
  await client.config.region().catch(() => {
    throw new KmsError('AWS KMS has no region: set AWS_REGION, or name the key by its ARN');
  });
  return {
    /** `kms` names the key's own ARN, also where the caller gave an alias: an alias may point to another key tomorrow. */
    async wrap(Plaintext: Uint8Array, EncryptionContext: Record<string, string>) {
      const command = new sdk.EncryptCommand({ KeyId, Plaintext, EncryptionContext });
      const { CiphertextBlob, KeyId: arn } = await client.send(command).catch(translate);
      if (!CiphertextBlob || !arn) throw new KmsError(UNKNOWN);
      return { wrapped: CiphertextBlob, kms: `${AWS_KMS}${arn}` };
    },
    async unwrap(CiphertextBlob: Uint8Array, EncryptionContext: Record<string, string>): Promise<Uint8Array> {
      // Names the key. Otherwise KMS would take any key that these bytes claim to be wrapped under.
      const command = new sdk.DecryptCommand({ KeyId, CiphertextBlob, EncryptionContext });
      const { Plaintext } = await client.send(command).catch(translate);
      if (!Plaintext) throw new KmsError(UNKNOWN);
      return Plaintext;
    },
    close: () => client.destroy(),
  };
}

const INSECURE = 'AWS KMS would be called over http outside this machine: give AWS_ENDPOINT_URL_KMS an https address';
const UNKNOWN = 'AWS KMS failed for an unknown reason: try again, and look into its log (CloudTrail)';
const UNREACHABLE = 'AWS KMS does not answer: check the network, the region and AWS_ENDPOINT_URL_KMS, then try again';
const DENIED = 'AWS KMS denies it: allow this identity kms:Encrypt and kms:Decrypt on that key';

/** The remedies, by the error names of KMS, STS and the SDK. Never by their texts, which name the caller. */
const TO_DO: readonly (readonly [RegExp, string])[] = [
  [/Timeout|Abort|Throttling|LimitExceeded|TooManyRequests|KMSInternal/, UNREACHABLE],
  [
    /Credentials|Token|Signature|UnrecognizedClient/,
    'AWS KMS needs valid credentials: give the process some, as the AWS SDK finds them',
  ],
  [/^AccessDenied/, DENIED],
  [
    /^(NotFound|Disabled|KMSInvalidState|KeyUnavailable|InvalidKeyUsage|InvalidArn)Exception$/,
    'that key of AWS KMS cannot be used: enable it, cancel its deletion, or correct its name',
  ],
  [
    /^(InvalidCiphertext|IncorrectKey)Exception$/,
    'AWS KMS did not wrap this with that key, for this key id and use: bring the key ring back from its copy, or correct `kms`',
  ],
];

function translate(error: unknown): never {
  if (error instanceof KmsError) throw error;
  const { name = '', $metadata } = error as Partial<ServiceException>;
  const [, toDo] = TO_DO.find(([names]) => names.test(name)) ?? [];
  // Without a status no answer came. An answer that the SDK cannot read comes from a proxy, or an endpoint's policy.
  const status = $metadata?.httpStatusCode ?? 500;
  const refused = status === 401 || status === 403 ? DENIED : UNKNOWN;
  throw new KmsError(toDo ?? (status >= 500 ? UNREACHABLE : refused));
}
