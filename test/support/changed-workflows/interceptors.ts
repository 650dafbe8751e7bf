/** The change of a second build: it waits before each inquiry of PREAPP, which older runs did not. */
import { patched, sleep, type WorkflowInterceptors } from '@temporalio/workflow';

export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      // Not async, since one more microtask would reorder the commands of activities that it leaves unchanged.
      scheduleActivity(input, next) {
        const [{ inquiry } = {}] = input.args as { inquiry?: { productCode?: string } }[];
        if (
          input.activityType === 'submitInquiry' &&
          inquiry?.productCode === 'PREAPP' &&
          patched('wait-before-preapp')
        ) {
          return sleep(1).then(() => next(input));
        }
        return next(input);
      },
    },
  ],
});
