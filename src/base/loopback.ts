/** Whether a host is this machine. Pure. */

/** Takes a URL's `hostname`: IPv6 in brackets. */
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
