/** Promises of docs/http-api.md, each taken out by one edit. As `builds.ts`, which lists the fences. */
import type { BrokenBuild } from './builds.ts';

/** Journeys that are started and advanced by HTTP, and strangers who ask about them. */
const STORM = { seed: 971, journeys: 20, minutes: 0.4 };

export const BROKEN_API: readonly BrokenBuild[] = [
  {
    name: 'the API answers before Temporal has acknowledged',
    chaos: STORM,
    edits: [
      {
        file: 'src/operations/runs.ts',
        find: '    const { isNew } = await services.journeys.start(input as never, { ...call.sending, ...(call.query as object) });\n    const run = await readRun(services.client, runKey);\n',
        replace:
          '    const isNew = true;\n    void services.journeys.start(input as never, { ...call.sending, ...(call.query as object) }).catch(() => {});\n    const run = {};\n',
      },
      {
        file: 'src/operations/run-kinds.ts',
        find: '      return services.journeys.get(journeyId).advance(message, sending);\n',
        replace:
          '      void services.journeys.get(journeyId).advance(message, sending).catch(() => {});\n      return { accepted: true, duplicate: false };\n',
      },
    ],
    tests: [
      { path: 'test/api/process-slow.test.ts', title: 'while Temporal is unreachable the API quickly answers 503' },
    ],
  },
  {
    name: 'the API shows runs to any token that has the scope',
    chaos: STORM,
    edits: [
      {
        file: 'src/operations/reach.ts',
        find: '  return required !== undefined && reaches(caller, required);\n',
        replace: '  return required !== undefined;\n',
      },
    ],
    tests: [
      {
        path: 'test/api/access.test.ts',
        title: 'answers a token that does not reach the run as it answers an unknown id',
      },
    ],
  },
];
