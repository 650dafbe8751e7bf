/** What is said of an error that nobody caught. */
import { errorFields } from '../../telemetry/log-fields.ts';
import { EXIT } from './exit-codes.ts';

/** Instead of Node's own last words, which quote the error's message, and so whatever that was put together with. */
export function sayLastWords(): void {
  process.on('uncaughtException', (error) => {
    const line = {
      level: 60,
      time: Date.now(),
      error: errorFields(error),
      msg: 'ended by an error that nobody caught',
    };
    process.stderr.write(`${JSON.stringify(line)}\n`);
    process.exit(EXIT.failed);
  });
}
