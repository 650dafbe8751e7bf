/** Options of a codec server, and its limits. */

import type { AuditDestination } from '../http/audit.ts';
import type { RequestMetrics } from '../http/request-metrics.ts';
import type { Environment } from '../model/products.ts';
import type { PayloadKeys } from '../protection/keys/key-ring.ts';
import type { CodecTokenSettings } from './access.ts';
import type { CodecServerLimits } from './limits.ts';
import type { Role } from './roles.ts';

export type Authentication =
  | ({ kind: 'jwt' } & CodecTokenSettings)
  /** For this machine alone, never `production`: every caller that knows the address has these `roles`. */
  | {
      kind: 'path';
      /** 32 random bytes in base64url; default: new ones at each start. */
      segment?: string;
      roles?: readonly Role[];
    };

export interface CodecServerOptions {
  environment: Environment;
  keys: PayloadKeys;
  authentication: Authentication;
  /** The namespaces that are served. */
  namespaces: readonly [string, ...string[]];
  /** Origins of payloads that are decoded in every namespace served, besides its own: of histories that were moved. */
  originNamespaces?: readonly string[];
  /** `https://host[:port]` of the UIs whose pages may call; without any, no page may. */
  uiOrigins?: readonly string[];
  /** Default: lines on standard error. */
  audit?: AuditDestination;
  /** Default: 127.0.0.1. */
  host?: string;
  /** Default: a free one. */
  port?: number;
  /** PEM. */
  tls?: { cert: string; key: string };
  /** Addresses or CIDR blocks; where there are any, only they may connect, and `X-Forwarded-For` is believed. */
  trustedProxies?: readonly string[];
  limits?: Partial<CodecServerLimits>;
  /** An alert: a caller asked for a payload under a key that the key ring lacks. */
  onUnknownKey?: (keyId: string) => void;
  /** Counts what is answered. */
  metrics?: RequestMetrics;
  /** A bug, or an audit log that cannot be written; the caller got 500 or 503 without a reason. */
  onUnexpected?: (error: unknown) => void;
}
