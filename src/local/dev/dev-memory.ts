/** What a data directory remembers of its environment between runs, and which ports the next run takes. */
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts, isPortFree } from '../free-ports.ts';

export interface DevPorts {
  temporalPort: number;
  uiPort: number;
  sandboxPort: number;
  codecPort: number;
}

/** Content of `dev.json`; empty where there is none yet, or none that can be read. */
export interface DevMemory extends Partial<DevPorts> {
  /** The process that holds or last held the directory. */
  pid?: number;
  /** The unguessable path of the codec server, a secret: the file is its owner's alone. */
  codecSegment?: string;
}

/** The codec server takes any port; its address is found by the UI and in `env`. */
const DEFAULT_PORTS: Partial<DevPorts> = { temporalPort: 7233, uiPort: 8233, sandboxPort: 7280 };

/** 32 bytes in base64url. */
const SEGMENT_FORM = /^[\w-]{43,}$/;

/** A port that was asked for, or must be used again, is taken; the message says what can be done. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

const FLAGS: Partial<Record<keyof DevPorts, string>> = {
  temporalPort: '--temporal-port',
  uiPort: '--ui-port',
  sandboxPort: '--sandbox-port',
};

/** An entry that cannot be used is forgotten alone: the sandbox's port must not be lost over it. */
export async function readDevMemory(dataDir: string): Promise<DevMemory> {
  try {
    const found: Record<string, unknown> = JSON.parse(await readFile(memoryFile(dataDir), 'utf8'));
    const isUsable = ([name, value]: [string, unknown]) =>
      name === 'codecSegment' ? typeof value === 'string' && SEGMENT_FORM.test(value) : Number.isSafeInteger(value);
    return Object.fromEntries(Object.entries(found).filter(isUsable));
  } catch {
    return {};
  }
}

export async function writeDevMemory(dataDir: string, memory: DevMemory): Promise<void> {
  const staged = `${memoryFile(dataDir)}.${randomBytes(4).toString('hex')}`;
  await writeFile(staged, `${JSON.stringify(memory)}\n`, { mode: 0o600 });
  await rename(staged, memoryFile(dataDir));
}

function memoryFile(dataDir: string): string {
  return join(dataDir, 'dev.json');
}

/**
 * Ports for the next run: the one asked for; else the remembered one; else the default; else a free one. 0 asks for a
 * free port where none is remembered. Calls `onNotice` where a port has changed.
 *
 * @throws PortTakenError
 */
export async function choosePorts(
  asked: Partial<DevPorts>,
  memory: DevMemory,
  onNotice: (message: string) => void,
): Promise<DevPorts> {
  const chosen: DevPorts = { sandboxPort: 0, temporalPort: 0, uiPort: 0, codecPort: 0 };
  const names = Object.keys(chosen) as (keyof DevPorts)[];
  // Ports that were asked for come first, then the sandbox's, which must not move.
  names.sort((a, b) => Number(Boolean(asked[b])) - Number(Boolean(asked[a])));
  for (const name of names) chosen[name] = await choosePort(name, asked[name], memory[name], chosen, onNotice);
  return chosen;
}

async function choosePort(
  name: keyof DevPorts,
  asked: number | undefined,
  remembered: number | undefined,
  chosen: DevPorts,
  onNotice: (message: string) => void,
): Promise<number> {
  const others = Object.values(chosen);
  const canHave = async (port: number) => !others.includes(port) && (await isPortFree(port));
  if (asked) {
    if (!(await canHave(asked))) throw new PortTakenError(`port ${asked} (${FLAGS[name]}) is taken`);
    if (name === 'sandboxPort' && remembered !== undefined && remembered !== asked) {
      onNotice(`the sandbox moves from port ${remembered} to ${asked}: journeys under way will hold as ProfileChanged`);
    }
    return asked;
  }
  const preferred = remembered ?? (asked === 0 ? undefined : DEFAULT_PORTS[name]);
  if (preferred !== undefined && (await canHave(preferred))) return preferred;
  // A run is bound to its gateway's address: the sandbox may not move by itself. The others may.
  if (name === 'sandboxPort' && remembered !== undefined) {
    throw new PortTakenError(
      `port ${remembered}, where this data directory's sandbox has been, is taken: free it, ` +
        `use another --data-dir, or move it with ${FLAGS[name]} (journeys under way then hold as ProfileChanged)`,
    );
  }
  // One more than those that it may not have.
  const free = (await freePorts(others.length + 1)).find((port) => !others.includes(port)) as number;
  if (remembered !== undefined) onNotice(`port ${remembered} is taken: ${free} instead`);
  return free;
}
