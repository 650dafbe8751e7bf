import { mock } from 'node:test';
import { type ActivityInboundCallsInterceptor, Worker, type WorkerOptions } from '@temporalio/worker';

/** Adds an interceptor to each worker of this process, since the product's worker has no option for it. `mock.restoreAll` ends it. */
export function interceptActivities(make: () => ActivityInboundCallsInterceptor): void {
  const create = Worker.create.bind(Worker);
  mock.method(Worker, 'create', (options: WorkerOptions) => {
    const { activity = [], ...interceptors } = options.interceptors ?? {};
    return create({
      ...options,
      interceptors: { ...interceptors, activity: [...activity, () => ({ inbound: make() })] },
    });
  });
}
