/**
 * How a program without a key reaches the codec server (docs/codec-server.md). A file of its own, since the client's
 * declarations show it and must name no type of Temporal's SDK.
 */
export interface CodecServerAccess {
  /** Its path may be unguessable and thus a secret: never shown. */
  url: string;
  /** Reads the bearer token at each call, so that it can be renewed. Absent where the path authenticates. */
  readToken?: () => Promise<string>;
  /** A certificate authority in PEM, used in addition to the system's. */
  caCertificate?: string;
}
