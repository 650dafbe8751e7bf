/** Loads the test files that are named in TESTS_TOGETHER (JSON) into this one process, as `scripts/test.ts` starts it. */
import { after } from 'node:test';
import { pathToFileURL } from 'node:url';

const files: unknown = JSON.parse(process.env.TESTS_TOGETHER ?? '[]');
if (!Array.isArray(files) || files.length === 0) throw new Error('TESTS_TOGETHER names no test file');

// A test may wait for what keeps no process alive, such as a poll; the others would go with it.
const alive = setInterval(() => {}, 60_000);
after(() => clearInterval(alive));

for (const file of files) await import(pathToFileURL(String(file)).href);
