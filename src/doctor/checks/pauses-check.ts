/** Whether a person has paused inquiries: then nothing is sent, however sound everything else is. */
import { pauseWords } from '../../ledger/pauses.ts';
import type { Check } from './check.ts';
import { NotCheckedError, pass, warn } from './finding.ts';

export const pausesCheck: Check = {
  name: 'pauses',
  needs: ['LEDGER_'],
  async run({ ledger }) {
    const { content } = await ledger();
    if (!content) throw new NotCheckedError('the ledger cannot be read');
    const { pauses } = content;
    if (pauses.length === 0) return pass('inquiries are not paused');
    return warn(pauses.map(pauseWords).join('; '), '`credit-journey resume` ends it, once what it is for is mended');
  },
};
