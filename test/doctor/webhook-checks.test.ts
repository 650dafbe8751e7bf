import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DoctorContext } from '../../src/doctor/check.ts';
import { checkWebhooks } from '../../src/doctor/gateway-checks.ts';
import type { WebhookEndpoint } from '../../src/messages/webhooks/delivery.ts';
import { newWebhookSecret } from '../support/webhook-receiver.ts';

test('prints endpoints by name and host; finds one that leads inside, nowhere, or has no usable secret', async () => {
  const secret = newWebhookSecret();
  const look = async (change: Partial<WebhookEndpoint>) => {
    const url = 'http://127.0.0.1:8080/hooks/TOKEN-IN-PATH';
    const endpoint = { name: 'ops', url, readSecrets: async () => [secret], allowPrivateAddresses: true, ...change };
    const [check, ...more] = [{ name: 'default', webhooks: [endpoint] }, { name: 'silent' }].flatMap(checkWebhooks);
    assert.equal(check?.name, 'webhooks/default');
    assert.equal(more.length, 0);
    const finding = await check.run({} as DoctorContext, new AbortController().signal);
    assert.doesNotMatch(JSON.stringify(finding), /TOKEN-IN-PATH|whsec_[A-Za-z0-9+/]{9}/);
    assert.ok(finding.detail.includes('ops ('), finding.detail);
    return finding.status;
  };
  assert.equal(await look({}), 'pass');
  assert.equal(await look({ allowPrivateAddresses: false }), 'fail');
  assert.equal(await look({ url: 'http://localhost/x', allowPrivateAddresses: false }), 'fail');
  assert.equal(await look({ url: 'http://nowhere.invalid/x' }), 'warn');
  assert.equal(await look({ readSecrets: async () => ['whsec_short'] }), 'fail');
  assert.equal(await look({ readSecrets: () => Promise.reject(new Error('gone')) }), 'fail');
});
