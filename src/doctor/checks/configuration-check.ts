/** The configuration itself: every rule that it breaks. */
import type { Check } from './check.ts';
import { counted, fail, pass, warn } from './finding.ts';

export const configurationCheck: Check = {
  name: 'configuration',
  needs: [],
  async run({ config, problems }) {
    if (problems.length > 0) {
      const rules = problems.map(({ variable, rule }) => `${variable} ${rule}`).join('; ');
      return fail(`${counted(problems.length, 'rule')} broken: ${rules}`, 'see docs/configuration.md');
    }
    const { environment, taskQueue, profiles } = config;
    const rehearsals = [...profiles.values()].filter(({ rehearsal }) => rehearsal).map(({ name }) => name);
    const rehearsed = rehearsals.length === 0 ? '' : `, a rehearsal against a sandbox: ${rehearsals.join(', ')}`;
    const what = `${environment}, task queue ${taskQueue}, ${counted(profiles.size, 'profile')}${rehearsed}`;
    return config.payloadsAreEncrypted
      ? pass(what)
      : warn(`${what}, payloads in the clear`, 'PAYLOAD_ENCRYPTION=off is for trying things out in the sandbox');
  },
};
