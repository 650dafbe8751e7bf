/** Output for an uncaught error of the command line. */
import { errorFields } from '../../telemetry/log-fields.ts';
import { EXIT } from './exit-codes.ts';

/** Replaces Node's own output for an uncaught error, which quotes the error's message and so any value in it. */
export function logUncaughtErrors(): void {
  process.on('uncaughtException', (error) => {
    const line = {
      level: 60,
      time: Date.now(),
      error: errorFields(error),
      msg: 'ended by an uncaught error',
    };
    process.stderr.write(`${JSON.stringify(line)}\n`);
    process.exit(EXIT.failed);
  });
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.listenerCount('error', endUnread) === 0) stream.on('error', endUnread);
  }
}

/** `… | head` has read enough. */
function endUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(EXIT.unread);
}
