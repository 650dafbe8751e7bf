/** Opens a key management service by its name. */
import { type KeyManagementService, KmsError } from '../key-management-service.ts';

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

async function openKeyService(name: string): Promise<KeyManagementService> {
  if (!isKmsName(name)) throw new KmsError('unknown', `its name ${KMS_NAME_RULE}`);
  // Loaded on demand, since most key rings do not need it.
  const { openAwsKms } = await import('./aws-kms.ts');
  return openAwsKms(name.slice(AWS_KMS.length), AWS_KMS);
}
