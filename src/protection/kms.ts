/** Key management services: the narrow port, and which service a name stands for. */

/**
 * Wraps and unwraps the key ring's keys. What is wrapped under one context opens under no other; nothing in a context is
 * secret, since services log it.
 */
export interface KeyManagementService {
  /** `kms` names the key that will open it: not always the name that was asked for, which may be moved to another key. */
  wrap(plain: Uint8Array, context: Record<string, string>): Promise<{ wrapped: Uint8Array; kms: string }>;
  unwrap(wrapped: Uint8Array, context: Record<string, string>): Promise<Uint8Array>;
  /** Lets connections go. */
  close(): void;
}

export type KmsFailure =
  /** Nothing answers, or not in time, or the service itself fails: the same may succeed later. */
  | 'unreachable'
  | 'credentials'
  | 'denied'
  /** The service's key is missing, disabled or about to be deleted. */
  | 'keyUnusable'
  /** These bytes were not wrapped by that key, or under another context. */
  | 'notOpened'
  /** Its address is not an https one. */
  | 'insecure'
  | 'region'
  | 'notInstalled'
  | 'unknown';

/** A service did not do its part. Says what to do, and nothing of what it answered. */
export class KmsError extends Error {
  override readonly name = 'KmsError';
  readonly code: KmsFailure;

  constructor(code: KmsFailure, message: string) {
    super(message);
    this.code = code;
  }
}

const AWS_KMS = 'aws-kms:';
/** A key's ARN, an alias' ARN, an alias or a key id. */
const AWS_KMS_KEY =
  /^(?:arn:aws[a-z-]*:kms:[a-z0-9-]{1,32}:\d{12}:(?:key\/[A-Za-z0-9-]{1,64}|alias\/[\w/-]{1,250})|alias\/[\w/-]{1,250}|[A-Za-z0-9-]{1,64})$/;

export const KMS_NAME_RULE = `must be ${AWS_KMS} and a key's or an alias' ARN, alias/<name> or a key id`;

export function isKmsName(name: string): boolean {
  return name.startsWith(AWS_KMS) && AWS_KMS_KEY.test(name.slice(AWS_KMS.length));
}

/** The service of that name; opened once for all that `withKeyServices` has to do. */
export type KeyServiceOf = (name: string) => Promise<KeyManagementService>;

/** Opens the services that `work` asks for, and closes them after it. */
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

async function openKeyService(name: string): Promise<KeyManagementService> {
  if (!isKmsName(name)) throw new KmsError('unknown', `its name ${KMS_NAME_RULE}`);
  // Loaded where a key ring needs it: most need none.
  const { openAwsKms } = await import('./aws-kms.ts');
  return openAwsKms(name.slice(AWS_KMS.length), AWS_KMS);
}
