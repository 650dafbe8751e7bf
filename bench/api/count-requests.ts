/**
 * Loaded before a program (`node --import`): counts its requests to Temporal by method, and writes the counts into
 * BENCH_COUNTS_FILE. All calls of gRPC go over `node:http2`.
 */
import { renameSync, writeFileSync } from 'node:fs';
import http2, { type ClientHttp2Session } from 'node:http2';

const WRITE_EVERY_MS = 100;

const file = process.env.BENCH_COUNTS_FILE;
const counts: Record<string, number> = {};
let isWritten = true;

const connect = http2.connect.bind(http2);
const counting = (...args: Parameters<typeof http2.connect>): ClientHttp2Session => {
  const session = connect(...args);
  const request = session.request.bind(session);
  session.request = (headers, options) => {
    const called = String((headers as Record<string, unknown> | undefined)?.[':path']);
    const method = called.slice(called.lastIndexOf('/') + 1);
    counts[method] = (counts[method] ?? 0) + 1;
    isWritten = false;
    return request(headers, options);
  };
  return session;
};
// gRPC's own module looks it up at each call.
Object.assign(http2, { connect: counting });

if (file !== undefined) {
  setInterval(() => {
    if (isWritten) return;
    isWritten = true;
    // At once: its reader sees one or the other.
    writeFileSync(`${file}.new`, JSON.stringify(counts));
    renameSync(`${file}.new`, file);
  }, WRITE_EVERY_MS).unref();
}
