/** Every fault by name, and its description for `GET /_sandbox/faults`. */
import { z } from 'zod';
import { CONNECTION_FAULTS } from './connection.ts';
import { CONTENT_FAULTS } from './content.ts';
import { DELIVERY_FAULTS } from './delivery.ts';
import type { Fault, RequestFault, TokenFault } from './fault.ts';
import { STATUS_FAULTS } from './statuses.ts';
import { TOKEN_FAULTS } from './token.ts';

export type Target = 'request' | 'token';

const REQUEST_FAULTS: ReadonlyMap<string, RequestFault> = byName([
  ...STATUS_FAULTS,
  ...CONNECTION_FAULTS,
  ...DELIVERY_FAULTS,
  ...CONTENT_FAULTS,
]);
const TOKEN_FAULTS_BY_NAME: ReadonlyMap<string, TokenFault> = byName(TOKEN_FAULTS);

function byName<Kind extends Fault>(faults: readonly Kind[]): Map<string, Kind> {
  return new Map(faults.map((fault) => [fault.name, fault]));
}

export function requestFault(name: string): RequestFault | undefined {
  return REQUEST_FAULTS.get(name);
}

export function tokenFault(name: string): TokenFault | undefined {
  return TOKEN_FAULTS_BY_NAME.get(name);
}

/** Whether the fault can happen to this product: some faults need applicants in the answer. */
export function befalls(fault: Fault, productCode: string | null): boolean {
  return !(fault.stage === 'content' && fault.products === 'reports' && productCode === 'SECONDUSE');
}

const UNPOSTED: readonly Fault['stage'][] = ['arrival', 'beforePosting'];

export interface FaultDescription {
  target: Target;
  fault: string;
  /** Whether the inquiry is posted when the fault has happened. Absent for the token service. */
  posted?: boolean;
  what: string;
  /** As JSON Schema. */
  params: object;
}

export function describeFaults(): FaultDescription[] {
  return [...REQUEST_FAULTS.values(), ...TOKEN_FAULTS].map((fault) => ({
    target: fault.stage === 'token' ? 'token' : 'request',
    fault: fault.name,
    // A slow request is posted in the end.
    ...(fault.stage !== 'token' && { posted: fault.name === 'slowBeforePosting' || !UNPOSTED.includes(fault.stage) }),
    what: fault.what,
    params: z.toJSONSchema(z.object(fault.params ?? {}), { io: 'input' }).properties ?? {},
  }));
}
