/** The event that an operator sends by hand, to check that an endpoint takes events. */
import { randomBytes } from 'node:crypto';
import type { Environment } from '../model/products.ts';

export function pingMessage(environment: Environment): { id: string; body: string } {
  const body = JSON.stringify({ type: 'ping', timestamp: new Date().toISOString(), data: { environment } });
  return { id: `evt_ping_${randomBytes(8).toString('hex')}`, body };
}
