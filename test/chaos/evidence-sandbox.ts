/** The sandbox's journal, read back: requests, postings, connections. */
import { existsSync, readFileSync } from 'node:fs';
import type { Connection, JournalLine, SandboxEvidence, SandboxPosting, SandboxRequest } from './evidence.ts';

/** A last line that a killed process left unfinished counts for nothing: nothing was answered after it. */
export function readJournal(file: string, aheadMs = 0): SandboxEvidence {
  return toEvidence(existsSync(file) ? linesOf(readFileSync(file, 'utf8')) : [], aheadMs);
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

function toEvidence(lines: readonly JournalLine[], aheadMs: number): SandboxEvidence {
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
