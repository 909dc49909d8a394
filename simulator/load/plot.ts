import type { Slice } from './latencies.ts';

const ROWS = 10;
const LABEL_WIDTH = 9;
/** The columns that a plot of 80 characters has beside its labels. */
export const PLOT_COLUMNS = 68;

/**
 * Draws latencies over time in plain characters, at most 80 of them wide: `o` the median, `*` the 99th percentile, `@`
 * where both are in one place. The axis is logarithmic: a peak must not flatten the rest.
 */
export function plotLatencies(slices: readonly Slice[], durationText: string): string {
  const values = slices.flatMap(({ p50, p99 }) => [p50, p99]).filter((value) => value !== undefined);
  if (values.length === 0) return '';
  const low = Math.log10(Math.max(0.1, Math.min(...values)));
  const high = Math.max(low + 0.3, Math.log10(Math.max(0.1, ...values)));
  const rowOf = (value: number | undefined) =>
    value === undefined
      ? -1
      : Math.round(((Math.log10(Math.max(0.1, value)) - low) / (high - low)) * (ROWS - 1));
  const lines: string[] = [];
  for (let row = ROWS - 1; row >= 0; row -= 1) {
    const isLabelled = row === 0 || row === ROWS - 1 || row === Math.floor(ROWS / 2);
    const label = isLabelled ? formatLatency(10 ** (low + ((high - low) * row) / (ROWS - 1))) : '';
    const cells = slices.map(({ p50, p99 }) => {
      const [isP50, isP99] = [rowOf(p50) === row, rowOf(p99) === row];
      return isP50 && isP99 ? '@' : isP99 ? '*' : isP50 ? 'o' : ' ';
    });
    lines.push(`${label.padStart(LABEL_WIDTH)} |${cells.join('')}`.trimEnd());
  }
  lines.push(`${' '.repeat(LABEL_WIDTH)} +${'-'.repeat(slices.length)}`);
  const axis = `${' '.repeat(LABEL_WIDTH)}  0   o p50   * p99`;
  lines.push(axis.padEnd(LABEL_WIDTH + 2 + slices.length - durationText.length) + durationText);
  return lines.join('\n');
}

/** Formats milliseconds of a latency: "0.8 ms", "12 ms", "1.4 s". */
export function formatLatency(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
