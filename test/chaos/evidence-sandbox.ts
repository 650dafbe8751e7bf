/** The sandbox's journal, read back: requests, postings, connections. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Connection, JournalLine, SandboxEvidence, SandboxPosting, SandboxRequest } from './evidence.ts';

/** What differs between two attempts of one and the same request (docs/protocol.md, "Three fences"). */
const NOT_OF_THE_REQUEST = new Set(['customerTraceNumber', 'originalInquiryDate']);

/** SHA-256 of the request's body, members in the order of their names; lower-case hex. */
export function bodyDigest(body: object): string {
  const kept = Object.entries(body).filter(([name]) => !NOT_OF_THE_REQUEST.has(name));
  return createHash('sha256')
    .update(JSON.stringify(sorted(Object.fromEntries(kept))))
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}

/** A last line that a killed process left unfinished counts for nothing: nothing was answered after it. */
export function readJournal(files: readonly string[], aheadMs = 0): SandboxEvidence {
  const lines = files.flatMap((file) => (existsSync(file) ? linesOf(readFileSync(file, 'utf8')) : []));
  return sandboxEvidenceOf(lines, aheadMs);
}

function linesOf(text: string): JournalLine[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.flatMap((line, index) => {
    try {
      return [JSON.parse(line) as JournalLine];
    } catch (error) {
      // Cut off by a kill: in the middle too, where the next process went on after it.
      if (!line.endsWith('}') || index === lines.length - 1) return [];
      throw error;
    }
  });
}

export function sandboxEvidenceOf(lines: readonly JournalLine[], aheadMs = 0): SandboxEvidence {
  const requests = new Map<string, SandboxRequest>();
  const postings = new Map<string, SandboxPosting>();
  const connections = new Map<string, Connection>();
  const listeningMs: number[] = [];
  const requestOf = (requestId: string, atMs: number): SandboxRequest => {
    const known = requests.get(requestId);
    if (known) return known;
    const nothing = { customerTraceNumber: null, productCode: null, digest: null, status: null, fault: null };
    const request = { requestId, atMs, ...nothing };
    requests.set(requestId, request);
    return request;
  };
  for (const line of lines) {
    const atMs = Date.parse(line.at) - aheadMs;
    switch (line.kind) {
      case 'listening':
        listeningMs.push(atMs);
        for (const connection of connections.values()) connection.closedMs ??= atMs;
        break;
      case 'connection':
        connections.set(line.connectionId, { openedMs: atMs });
        break;
      case 'closed': {
        const connection = connections.get(line.connectionId);
        if (connection) connection.closedMs = atMs;
        break;
      }
      case 'head':
        requestOf(line.requestId, atMs);
        break;
      case 'request': {
        const { customerTraceNumber, productCode, digest } = line;
        Object.assign(requestOf(line.requestId, atMs), { customerTraceNumber, productCode, digest });
        break;
      }
      case 'posted': {
        const { kind: _, at: __, ...posted } = line;
        const { digest } = requestOf(line.requestId, atMs);
        postings.set(line.requestId, { ...posted, atMs, digest, status: null });
        break;
      }
      case 'answered': {
        const { status, fault } = line;
        Object.assign(requestOf(line.requestId, atMs), { status, fault });
        const posting = postings.get(line.requestId);
        if (posting) posting.status = status;
        break;
      }
    }
  }
  return {
    requests: [...requests.values()],
    postings: [...postings.values()],
    connections: [...connections.values()],
    listeningMs,
    standstills: [],
  };
}
