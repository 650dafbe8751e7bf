import { type Options, Presets, SingleBar } from 'cli-progress';

/** Progress of a search for a binary. */
export type BinaryProgress =
  | { kind: 'note'; message: string }
  | { kind: 'warning'; message: string }
  | { kind: 'download'; name: string; receivedBytes: number; totalBytes: number }
  | { kind: 'downloaded'; name: string };

export type OnBinaryProgress = (progress: BinaryProgress) => void;

const MEGABYTE = 1_000_000;

/** A bar on a terminal, a plain line at the start and end of a download otherwise. Writes to stderr by default. */
export function reportBinaryProgress(stream: NodeJS.WriteStream = process.stderr): OnBinaryProgress {
  let bar: SingleBar | undefined;
  let announced: string | undefined;
  const endBar = () => {
    bar?.stop();
    bar = undefined;
  };
  return (progress) => {
    switch (progress.kind) {
      case 'note':
      case 'warning':
        endBar();
        stream.write(`${progress.kind === 'warning' ? 'warning: ' : ''}${progress.message}\n`);
        return;
      case 'download':
        if (!stream.isTTY) {
          if (announced !== progress.name) stream.write(`downloading ${progress.name} ...\n`);
          announced = progress.name;
          return;
        }
        bar ??= startBar(stream, progress.name);
        // The size is known roughly: the bar must not run past its end.
        bar.setTotal(Math.max(megabytes(progress.totalBytes), megabytes(progress.receivedBytes)));
        bar.update(megabytes(progress.receivedBytes));
        return;
      case 'downloaded':
        bar?.update(bar.getTotal());
        endBar();
        announced = undefined;
        stream.write(`downloaded ${progress.name}\n`);
    }
  };
}

function startBar(stream: NodeJS.WriteStream, name: string): SingleBar {
  const options: Options = {
    stream,
    format: `downloading ${name} [{bar}] {value} of {total} MB`,
    hideCursor: true,
    // Ctrl-C must leave the cursor visible.
    gracefulExit: true,
  };
  const bar = new SingleBar(options, Presets.shades_classic);
  bar.start(1, 0);
  return bar;
}

function megabytes(bytes: number): number {
  return Math.round((bytes / MEGABYTE) * 10) / 10;
}
