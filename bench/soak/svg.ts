/** Draws many small panels, one for each measure, as plain SVG. */
import { peak, type Series } from '../load/series.ts';

export interface Line {
  name: string;
  series: Series;
}

export interface Panel {
  title: string;
  lines: Line[];
  /** Shown under the title, in red where it is bad. */
  verdict: string;
  isGood: boolean;
}

const COLUMNS = 2;
const PANEL = { width: 460, height: 210 };
const PLOT = { left: 62, top: 46, width: 380, height: 118 };
const HEAD = 56;
const COLOURS = ['#1f5fa8', '#d2691e', '#2e8b57', '#8b3a8b'];

export function svg(title: string, subtitle: string, panels: readonly Panel[]): string {
  const width = COLUMNS * PANEL.width;
  const height = HEAD + Math.ceil(panels.length / COLUMNS) * PANEL.height;
  const drawn = panels.map((panel, index) => {
    const [x, y] = [(index % COLUMNS) * PANEL.width, HEAD + Math.floor(index / COLUMNS) * PANEL.height];
    return `<g transform="translate(${x} ${y})">${draw(panel)}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11" fill="#222">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    text(16, 24, title, 'font-size="16" font-weight="bold"'),
    text(16, 42, subtitle, 'fill="#666"'),
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

function draw({ title, lines, verdict, isGood }: Panel): string {
  const points = lines.flatMap(({ series }) => series.filter(({ value }) => Number.isFinite(value)));
  const until = Math.max(1, ...points.map(({ at }) => at));
  const top = niceCeiling(Math.max(0, peak(points)));
  const x = (at: number) => PLOT.left + (at / until) * PLOT.width;
  const y = (value: number) => PLOT.top + PLOT.height - (value / top) * PLOT.height;
  const grid = [0, 0.5, 1].map((share) => {
    const at = y(top * share);
    return `<path d="M${PLOT.left} ${at}h${PLOT.width}" stroke="#ddd"/>${text(PLOT.left - 6, at + 4, label(top * share), 'text-anchor="end" fill="#666"')}`;
  });
  // The verdicts use the part from here on.
  const half = `<path d="M${x(until / 2)} ${PLOT.top}v${PLOT.height}" stroke="#bbb" stroke-dasharray="3 3"/>`;
  const curves = lines.map(({ series }, index) => {
    const path = series
      .filter(({ value }) => Number.isFinite(value))
      .map(({ at, value }) => `${round(x(at))},${round(y(value))}`);
    return `<polyline points="${path.join(' ')}" fill="none" stroke="${colour(index)}" stroke-width="1.4"/>`;
  });
  const below = PLOT.top + PLOT.height;
  const legend = lines.map(({ name }, index) =>
    text(PLOT.left + (index * PLOT.width) / lines.length, below + 30, `— ${name}`, `fill="${colour(index)}"`),
  );
  return [
    text(16, 20, title, 'font-weight="bold" font-size="12"'),
    text(16, 36, verdict, `fill="${isGood ? '#2a6b2a' : '#b00020'}"`),
    ...grid,
    half,
    ...curves,
    text(PLOT.left, below + 14, '0', 'fill="#666"'),
    text(PLOT.left + PLOT.width, below + 14, `${(until / 60).toFixed(1)} min`, 'text-anchor="end" fill="#666"'),
    ...legend,
  ].join('');
}

function colour(index: number): string {
  return COLOURS[index % COLOURS.length] ?? '#000';
}

function text(x: number, y: number, content: string, attributes = ''): string {
  const safe = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${safe}</text>`;
}

function round(value: number): string {
  return value.toFixed(1);
}

/** 1, 2 or 5 times a power of ten, or half way between. */
function niceCeiling(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.5, 2, 3, 4, 5, 7.5].find((factor) => factor * power >= value) ?? 10) * power;
}

function label(value: number): string {
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toPrecision(2);
}
