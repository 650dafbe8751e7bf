/** How to reach the codec server: for programs without a key (docs/codec-server.md). */
export interface CodecServerAccess {
  /** Its path may be unguessable and thus a secret: never shown. */
  url: string;
  /** Reads the bearer token at each call, so that it can be renewed. Absent where the path authenticates. */
  readToken?: () => Promise<string>;
  /** A certificate authority in PEM, used in addition to the system's. */
  caCertificate?: string;
}
