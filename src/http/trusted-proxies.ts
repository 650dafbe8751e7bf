import { BlockList, isIP } from 'node:net';

/** Whether an address is that of a trusted proxy. */
export type ProxyCheck = (address: string | undefined) => boolean;

/** @throws TypeError for what is neither an address nor a CIDR block */
export function proxyCheck(proxies: readonly string[]): ProxyCheck {
  const list = new BlockList();
  for (const proxy of proxies) {
    if (!isProxyAddress(proxy)) throw new TypeError('a trusted proxy must be an address or a CIDR block');
    const [address = '', bits] = proxy.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address = '') => {
    // As a socket that listens on :: names IPv4 peers.
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
    const version = isIP(plain);
    return version !== 0 && list.check(plain, version === 6 ? 'ipv6' : 'ipv4');
  };
}

export function isProxyAddress(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
}
