import { existsSync, readFileSync } from 'node:fs';

/** From `package.json`, which is three levels up from the source and four from the build. */
export function packageVersion(): string {
  for (const path of ['../../../package.json', '../../../../package.json']) {
    const url = new URL(path, import.meta.url);
    if (existsSync(url)) return (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version;
  }
  throw new Error('package.json is missing');
}
