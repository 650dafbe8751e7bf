/** Where each profile's events go: names and hosts, where they lead, and whether the secrets can be read. Sends nothing. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { GatewayProfile } from '../../gateway/profile.ts';
import type { WebhookEndpoint } from '../../messages/webhooks/delivery.ts';
import { isPublicAddress } from '../../webhooks/sender.ts';
import { secretProblem } from '../../webhooks/signature.ts';
import type { Check } from './check.ts';
import { type Finding, fail, pass, warn } from './finding.ts';

export function webhookChecks(profiles: Iterable<GatewayProfile>): Check[] {
  return [...profiles].flatMap(({ name, webhooks = [] }) => {
    if (webhooks.length === 0) return [];
    const run = () => look(webhooks);
    return [{ name: `webhooks/${name}`, needs: ['WEBHOOK_', 'GATEWAY_PROFILES_FILE'], run }];
  });
}

async function look(endpoints: readonly WebhookEndpoint[]): Promise<Finding> {
  const all = endpoints.map((one) => `${one.name} (${new URL(one.url).host})`).join(', ');
  for (const endpoint of endpoints) {
    const finding = await troubleWith(endpoint);
    if (finding) return { ...finding, detail: `${all}: ${finding.detail}` };
  }
  return pass(all);
}

async function troubleWith(endpoint: WebhookEndpoint): Promise<Finding | null> {
  const { name, url, allowPrivateAddresses } = endpoint;
  const secrets = await endpoint.readSecrets().catch(() => []);
  if (secrets.length === 0 || secrets.some(secretProblem)) {
    return fail(`a secret of ${name} cannot be used`, 'its file must hold whsec_ and 24 to 64 random bytes in base 64');
  }
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = isIP(host) ? [{ address: host }] : await lookup(host, { all: true }).catch(() => []);
  if (addresses.length === 0) {
    return warn(
      `the name of ${name} leads nowhere from here`,
      'check its address, and the name servers of the workers',
    );
  }
  if (allowPrivateAddresses || addresses.every(({ address }) => isPublicAddress(address))) return null;
  return fail(
    `${name} leads to an address that is not public: nothing is sent there`,
    'correct its address, or allowPrivateAddresses where it is meant to be inside',
  );
}
