/** The change of a second build: before each inquiry of PREAPP it waits, which older runs have not done. */
import { patched, sleep, type WorkflowInterceptors } from '@temporalio/workflow';

export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      async scheduleActivity(input, next) {
        const [{ inquiry } = {}] = input.args as { inquiry?: { productCode?: string } }[];
        if (
          input.activityType === 'submitInquiry' &&
          inquiry?.productCode === 'PREAPP' &&
          patched('wait-before-preapp')
        ) {
          await sleep(1);
        }
        return next(input);
      },
    },
  ],
});
