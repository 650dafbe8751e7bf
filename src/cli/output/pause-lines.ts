/** The beginning and the end of a pause, in words. */
import type { Paused, Resumed } from '../../api/routes/pauses.ts';
import { inspectConfig } from '../../config/config.ts';
import { pauseWords, scopeWords } from '../../ledger/pauses.ts';
import { pauseLines } from './hold-lines.ts';
import { type Output, wrap } from './output.ts';

export function pausedLines({ kind, pause, inFlight }: Paused, { width, colors }: Output): string[] {
  const { profile } = pause;
  // A slip of the pen would pause nothing; another environment's ledger may still know the name.
  const isUnknown = profile !== undefined && !inspectConfig(process.env).config.profiles.has(profile);
  return [
    ...(kind === 'paused'
      ? wrap(`${scopeWords(pause)} are paused: nothing more is sent`, width).map(colors.green)
      : wrap(`nothing has changed: ${pauseWords(pause)}`, width)),
    `  attempts that were claimed before and are still on the wire: ${inFlight}`,
    ...(isUnknown
      ? wrap(`no gateway profile that is configured here is called ${profile}: check the name`, width).map(
          colors.yellow,
        )
      : []),
  ];
}

export function resumedLines({ pause, runs, inForce }: Resumed, output: Output): string[] {
  const { width, colors } = output;
  return [
    ...(pause
      ? wrap(`${scopeWords(pause)} go on: the pause is over`, width).map(colors.green)
      : ['nothing has changed: no such pause was in force']),
    `  runs that were woken: ${runs.woken}${runs.closed > 0 ? `; that had ended: ${runs.closed}` : ''}`,
    ...(runs.unreached > 0
      ? [
          colors.yellow(
            `  runs that could not be reached: ${runs.unreached}; run it again, or they continue within the hour`,
          ),
        ]
      : []),
    ...pauseLines(inForce, output),
  ];
}
