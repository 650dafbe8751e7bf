/** The world of a caller in another language: a Temporal server, a codec server and a token; no key, no ledger. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import { loadKeyRing } from '../../src/protection/keys/key-ring.ts';
import { startServer, token } from '../codec-server/fixtures.ts';
import { applicant, consentMessage, type Harness, journeyInput, startHarness } from './journey-harness.ts';
import { testServer } from './temporal.ts';

export interface KeylessWorld {
  harness: Harness;
  /** The environment variables of the examples. */
  env: Record<string, string>;
  /** Writes a file to this world's own directory. */
  put(name: string, content: object): Promise<string>;
}

/** Returns the path of an example. */
export function example(path: string): string {
  return fileURLToPath(new URL(`../../examples/${path}`, import.meta.url));
}

/** Starts a world with encrypted payloads and a token that may encrypt and decrypt. */
export async function startKeylessWorld(t: Pick<TestContext, 'after'>): Promise<KeylessWorld> {
  const [harness, temporal] = await Promise.all([startHarness({ env: { PAYLOAD_ENCRYPTION: 'on' } }), testServer()]);
  t.after(() => harness.close());
  const { config, dataDir } = harness;
  const put = async (name: string, content: object | string) => {
    const file = join(dataDir, name);
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
    return file;
  };
  const keys = await loadKeyRing(config.keyRingFile);
  const { namespace } = temporal;
  const codecServer = await startServer(t, {
    keys,
    namespaces: [namespace],
  });
  const roles = ['encode', 'decode'].map((role) => `${namespace}:${role}`);
  const expiresAt = Math.floor(Date.now() / 1000) + 900;
  return {
    harness,
    env: {
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: namespace,
      TASK_QUEUE: config.taskQueue,
      CODEC_SERVER_URL: codecServer.endpoint,
      CODEC_SERVER_TOKEN_FILE: await put('token', await token({ roles, expiresAt })),
    },
    put,
  };
}

export interface SharedJourney {
  journey: LendingJourneyInput;
  journeyFile: string;
  /** The files of the two applicants' grants. */
  consentFiles: string[];
}

/** Makes a journey of two applicants, two stages with a gate between, and a share that needs both consents. */
export async function sharedJourney({ put }: KeylessWorld): Promise<SharedJourney> {
  const journey = journeyInput({
    stages: ['PREQUAL', 'PREAPP'],
    applicants: [applicant('1A'), applicant('2A')],
    shares: [{ shareId: 'S1', endUserCode: 'EU999' }],
  });
  const { journeyId } = journey;
  const consentFiles = await Promise.all(
    ['1A', '2A'].map((applicantId) =>
      put(`${journeyId}-${applicantId}.json`, consentMessage(journeyId, { applicantId })),
    ),
  );
  return { journey, journeyFile: await put(`${journeyId}.json`, journey), consentFiles };
}
