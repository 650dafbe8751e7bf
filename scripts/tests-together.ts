/** Loads the test files that are named in TESTS_TOGETHER (JSON) into this one process, as `scripts/test.ts` starts it. */
import { pathToFileURL } from 'node:url';

const files: unknown = JSON.parse(process.env.TESTS_TOGETHER ?? '[]');
if (!Array.isArray(files) || files.length === 0) throw new Error('TESTS_TOGETHER names no test file');
for (const file of files) await import(pathToFileURL(String(file)).href);
