/** Reads a report over HTTP, by types that were made from the API's document: docs/http-api.md */
import { readFileSync } from 'node:fs';
import createClient from 'openapi-fetch';
import type { paths } from './api.js';

const api = createClient<paths>({
  baseUrl: process.env.API_URL ?? '',
  headers: { authorization: `Bearer ${readFileSync(process.env.API_TOKEN_FILE ?? '', 'utf8').trim()}` },
});

const [runKey = ''] = process.argv.slice(2);
const path = { runKey, productCode: 'PREQUAL' } as const;
const { data, error } = await api.GET('/v1/runs/{runKey}/reports/{productCode}', { params: { path } });
if (error) throw new Error(`${error.code}: ${error.detail}`);
console.log(data.customerTraceNumber, data.redacted ? 'masked' : 'whole');
