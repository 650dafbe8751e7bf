/** The change of a second build: before each inquiry of PREAPP it waits, which older runs have not done. */
import { patched, sleep, type WorkflowInterceptors } from '@temporalio/workflow';

export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      // Not async: a microtask more for activities that it leaves alone would put them behind what older runs did after.
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
