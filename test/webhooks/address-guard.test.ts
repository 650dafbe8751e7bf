/** Events go only to public Internet addresses, also when an endpoint's name resolves to a private one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isPublicAddress } from '../../src/webhooks/sender.ts';

const REFUSED = {
  'this machine': ['127.0.0.1', '127.8.8.8', '::1', '0.0.0.0', '::'],
  'private networks': ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1'],
  'link-local addresses': ['169.254.0.1', 'fe80::1'],
  'metadata services of clouds': ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16'],
  'carrier-grade NAT networks': ['100.64.0.1', '100.127.255.254'],
  'multicast and broadcast': ['224.0.0.1', '255.255.255.255', 'ff02::1'],
  'reserved and documentation ranges': ['240.0.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1'],
  'IPv4 inside IPv6': ['::ffff:127.0.0.1', '::ffff:10.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::', '::127.0.0.1'],
  'text that is not an address': ['', 'localhost', 'example.com', '10.0.0'],
};

describe('the check of a webhook address', () => {
  for (const [what, addresses] of Object.entries(REFUSED)) {
    it(`refuses ${what}`, () => {
      assert.deepEqual(addresses.filter(isPublicAddress), []);
    });
  }

  it('accepts public Internet addresses', () => {
    for (const address of ['1.1.1.1', '93.184.215.14', '172.32.0.1', '2606:4700:4700::1111', '::ffff:1.1.1.1']) {
      assert.ok(isPublicAddress(address), address);
    }
  });
});
