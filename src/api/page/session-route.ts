/** Who is signed in: what the page shows above everything else, and which buttons it has. */
import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { ENVIRONMENTS } from '../../model/products.ts';
import type { Reach } from '../caller.ts';
import { type Reply, type Route, route } from '../route.ts';

const reach = z.union([z.literal('*'), z.array(z.string())]);

const sessionSchema = z
  .object({
    by: z.string().exactOptional().meta({ description: 'In whose name decisions are taken. Absent: in nobody’s.' }),
    scopes: z.array(z.string()),
    profiles: reach,
    endUsers: reach,
    environment: z.enum(ENVIRONMENTS),
    temporalUi: z.string().exactOptional().meta({ description: 'The address of the Temporal UI.' }),
    runbookUrl: z.string().exactOptional().meta({ description: 'Where the pages of the runbook are served.' }),
    signOutAt: z.string().exactOptional().meta({ description: 'Where the proxy that signs people in signs them out.' }),
    signOut: z.boolean().meta({ description: 'Whether DELETE /session signs out.' }),
  })
  .meta({ id: 'session' });

export const sessionRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/session',
    operationId: 'readSession',
    summary: 'What the token permits, for whose runs, and who acts by it',
    scope: 'holds:read',
    answers: { 200: { description: 'Of this very request’s token.', schema: sessionSchema } },
    async handle({ services, caller }): Promise<Reply<200>> {
      const { environment, temporalUi, runbookUrl, signOutPath } = services;
      const { by, scopes, profiles, endUsers, signedInBy } = caller;
      const body = {
        ...defined({ by, temporalUi, runbookUrl }),
        ...{ scopes: [...scopes], profiles: listOf(profiles), endUsers: listOf(endUsers), environment },
        ...(signedInBy === 'header' ? defined({ signOutAt: signOutPath }) : {}),
        signOut: signedInBy === 'cookie',
      };
      return { status: 200, body };
    },
  }),
];

function listOf(names: Reach): '*' | string[] {
  return names === '*' ? '*' : [...names];
}
