import { fileURLToPath } from 'node:url';

/**
 * The path of another module of this project, to be run as a program of its own. Written without its extension:
 * `.ts` from source, `.js` from `dist/`, as the asking module's own address says.
 */
export function programPath(from: string, module: string): string {
  return fileURLToPath(new URL(`${module}${from.endsWith('.ts') ? '.ts' : '.js'}`, from));
}
