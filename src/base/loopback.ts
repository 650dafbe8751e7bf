/** Tells whether a connection to a host stays on this machine. Pure. */

/**
 * Returns true for `localhost`, loopback addresses, and the unspecified addresses, which connect to this machine.
 *
 * @param hostname of a URL: IPv6 in brackets
 */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    hostname === '0.0.0.0' ||
    hostname === '[::]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname) ||
    /^\[::ffff:7f/.test(hostname)
  );
}
