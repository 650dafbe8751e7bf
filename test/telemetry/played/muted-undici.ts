/** Loaded before a worker (`node --import`): wraps undici so that it never says when it begins to write an inquiry. */
import { Client, type Dispatcher } from 'undici';

const dispatch = Client.prototype.dispatch;

Client.prototype.dispatch = function muted(this: Client, options, handler: Dispatcher.DispatchHandler) {
  if (options.path.includes('token')) return dispatch.call(this, options, handler);
  return dispatch.call(this, options, {
    onRequestStart() {},
    onResponseStart: (...args) => handler.onResponseStart?.(...args),
    onResponseData: (...args) => handler.onResponseData?.(...args),
    onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
    onResponseError: (...args) => handler.onResponseError?.(...args),
  });
};
