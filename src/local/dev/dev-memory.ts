/** What a data directory remembers of its environment between runs, and which ports the next run takes. */
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts, isPortFree } from '../free-ports.ts';

export interface DevPorts {
  temporalPort: number;
  uiPort: number;
  sandboxPort: number;
}

/** Content of `dev.json`. */
export interface DevMemory extends DevPorts {
  /** Of the process that holds or last held the directory. */
  pid: number;
  /** Where the codec server was; absent in a directory that has not had one. */
  codecPort?: number;
  /** Its unguessable path, a secret: the file is its owner's alone. */
  codecSegment?: string;
}

const DEFAULT_PORTS: DevPorts = { temporalPort: 7233, uiPort: 8233, sandboxPort: 7280 };

/** 32 bytes in base64url. */
const SEGMENT_FORM = /^[\w-]{43,}$/;

/** A port that was asked for, or must be used again, is taken; the message says what can be done. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

const FLAGS: Record<keyof DevPorts, string> = {
  temporalPort: '--temporal-port',
  uiPort: '--ui-port',
  sandboxPort: '--sandbox-port',
};

/** `null` where there is none yet, or none that can be read. */
export async function readDevMemory(dataDir: string): Promise<DevMemory | null> {
  try {
    const found = JSON.parse(await readFile(memoryFile(dataDir), 'utf8')) as Partial<DevMemory>;
    const { temporalPort, uiPort, sandboxPort, pid, codecPort, codecSegment } = found;
    const values = [temporalPort, uiPort, sandboxPort, pid];
    if (!values.every((value) => Number.isSafeInteger(value))) return null;
    return {
      ...({ temporalPort, uiPort, sandboxPort, pid } as DevMemory),
      // What cannot be used is chosen anew; the sandbox's port must not be lost over it.
      ...(Number.isSafeInteger(codecPort) ? { codecPort: codecPort as number } : {}),
      ...(typeof codecSegment === 'string' && SEGMENT_FORM.test(codecSegment) ? { codecSegment } : {}),
    };
  } catch {
    return null;
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
  memory: DevPorts | null,
  onNotice: (message: string) => void,
): Promise<DevPorts> {
  const spare = await freePorts(3);
  const choose = async (name: keyof DevPorts, free: number): Promise<number> => {
    const remembered = memory?.[name];
    if (asked[name]) return demandFree(name, asked[name], remembered, onNotice);
    if (remembered !== undefined) return again(name, remembered, free, onNotice);
    const preferred = asked[name] === 0 ? undefined : DEFAULT_PORTS[name];
    return preferred !== undefined && (await isPortFree(preferred)) ? preferred : free;
  };
  return {
    temporalPort: await choose('temporalPort', spare[0] as number),
    uiPort: await choose('uiPort', spare[1] as number),
    sandboxPort: await choose('sandboxPort', spare[2] as number),
  };
}

async function demandFree(
  name: keyof DevPorts,
  port: number,
  remembered: number | undefined,
  onNotice: (message: string) => void,
): Promise<number> {
  if (!(await isPortFree(port))) throw new PortTakenError(`port ${port} (${FLAGS[name]}) is taken`);
  if (name === 'sandboxPort' && remembered !== undefined && remembered !== port) {
    onNotice(`the sandbox moves from port ${remembered} to ${port}: journeys under way will hold as ProfileChanged`);
  }
  return port;
}

/** A run is bound to its gateway's address: the sandbox may not move by itself. The others may. */
async function again(
  name: keyof DevPorts,
  remembered: number,
  free: number,
  onNotice: (message: string) => void,
): Promise<number> {
  if (await isPortFree(remembered)) return remembered;
  if (name === 'sandboxPort') {
    throw new PortTakenError(
      `port ${remembered}, where this data directory's sandbox has been, is taken: free it, ` +
        `use another --data-dir, or move it with ${FLAGS[name]} (journeys under way then hold as ProfileChanged)`,
    );
  }
  onNotice(`port ${remembered} is taken: ${free} instead`);
  return free;
}
