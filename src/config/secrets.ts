/** Credentials from variables or files. Files are read anew at each use, so that a rotated secret takes effect. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { CredentialsSource } from '../gateway/profile.ts';
import type { Environment } from '../model/products.ts';
import { type EnvironmentReader, errorCode } from './environment-reader.ts';
import { openFileProblem } from './private-file.ts';

type Secret = { kind: 'value'; value: string } | { kind: 'file'; path: string };

/** The places of one secret, and the name that problems give it. */
interface SecretPlace {
  /** The name in problems: `GATEWAY_CLIENT_SECRET`, or the profiles file. */
  variable: string;
  /** Put before each rule: the path in the profiles file. */
  place?: string;
  value?: string | undefined;
  file?: string | undefined;
  /** For the sandbox alone. */
  fallback?: string | undefined;
  /** In production the secret comes from a file only (docs/protection.md). */
  fileOnly: boolean;
}

/** `GATEWAY_CLIENT_ID`, `GATEWAY_CLIENT_SECRET` or the same with `_FILE`. */
export function credentialsFromEnvironment(reader: EnvironmentReader, environment: Environment): CredentialsSource {
  const sandbox = environment === 'sandbox';
  const place = (name: string, fallback: string): SecretPlace => ({
    variable: name,
    value: reader.optional(name),
    file: reader.optional(`${name}_FILE`),
    fallback: sandbox ? fallback : undefined,
    fileOnly: false,
  });
  const secret = place('GATEWAY_CLIENT_SECRET', 'sandbox-secret');
  return credentialsSource(reader, 'default', {
    clientId: place('GATEWAY_CLIENT_ID', 'sandbox-client'),
    // The provider sends the client id by plain e-mail (section 1): only the client secret is secret.
    clientSecret: { ...secret, fileOnly: environment === 'production' },
  });
}

/** Checks at start that both can be read; reports their problems. */
export function credentialsSource(
  reader: EnvironmentReader,
  name: string,
  places: { clientId: SecretPlace; clientSecret: SecretPlace },
): CredentialsSource {
  const clientId = secretAt(reader, places.clientId);
  const clientSecret = secretAt(reader, places.clientSecret);
  return {
    name,
    read: async () => ({ clientId: await readSecret(clientId), clientSecret: await readSecret(clientSecret) }),
  };
}

/** A reader for an optional secret, which reads it at each use. Checks at start that it can be read. */
export function optionalSecret(reader: EnvironmentReader, place: SecretPlace): (() => Promise<string>) | undefined {
  if (place.file === undefined && place.value === undefined) return undefined;
  const secret = secretAt(reader, place);
  return () => readSecret(secret);
}

function secretAt(reader: EnvironmentReader, place: SecretPlace): Secret {
  const report = (rule: string) => reader.report(place.variable, `${place.place ?? ''}${rule}`);
  if (place.file !== undefined) {
    if (place.value !== undefined) report('must not be given beside its file');
    // Where only a file is accepted, it must not be open to every user.
    const problem = secretFileProblem(place.file) ?? (place.fileOnly ? openFileProblem(place.file) : null);
    if (problem) report(problem);
    return { kind: 'file', path: place.file };
  }
  if (place.value !== undefined) {
    if (place.fileOnly) report('must come from a file in production');
    return { kind: 'value', value: place.value };
  }
  if (place.fallback === undefined) report('is required, by itself or as a file');
  return { kind: 'value', value: place.fallback ?? '' };
}

function secretFileProblem(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() === '' ? 'must be in a file that is not empty' : null;
  } catch (error) {
    return `must be in a file that can be read (${errorCode(error)})`;
  }
}

async function readSecret(secret: Secret): Promise<string> {
  if (secret.kind === 'value') return secret.value;
  // Secret managers and editors end files with a newline that is no part of the secret.
  return (await readFile(secret.path, 'utf8')).trim();
}
