import { latencyName } from '../latency.ts';
import { ELSEWHERE } from './elsewhere.ts';
import { floorText, notesOf, type Report } from './report.ts';
import { numberedName, type Rows, throughputRows, trafficRows } from './rows.ts';

/** A bar of a plot. `note`: shown behind its value. */
interface Bar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
  readonly note?: string;
}

const STYLE = `
  body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1d2330; }
  h2 { margin-top: 2rem; font-size: 1.1rem; }
  table { border-collapse: collapse; width: 100%; }
  th { text-align: left; font-weight: normal; width: 22rem; padding: 0.15rem 1rem 0.15rem 0; }
  td { padding: 0.15rem 0; white-space: nowrap; }
  .bar { display: inline-block; height: 0.9rem; background: #3b6fd4; border-radius: 2px; vertical-align: middle; margin-right: 0.5rem; }
  .elsewhere .bar { background: #9aa3b5; }
  .wide { overflow-x: auto; }
  .figures th, .figures td { width: auto; padding: 0.15rem 0.6rem; text-align: right; vertical-align: bottom; }
  .figures th:first-child, .figures td:first-child { text-align: left; }
  .note { color: #5b6475; }
  @media (prefers-color-scheme: dark) { body { background: #14171f; color: #e4e7ee; } .note { color: #9aa3b5; } }
`;

/** Returns the report as one HTML file that needs nothing else: a bar chart for each figure. */
export function reportHtml(report: Report): string {
  const rowName = (row: Report['throughput'][number]) => numberedName(row, report.throughput);
  const latencyLabel = (row: Report['latency'][number]) =>
    report.latency.some(({ run }) => run > 1) ? `${latencyName(row)}, run ${row.run}` : latencyName(row);
  const throughput = report.throughput.map((row) => ({
    label: rowName(row),
    value: row.deliveriesPerSecond,
    text: Math.round(row.deliveriesPerSecond).toLocaleString('en-US'),
    note: `${row.ratios.throughput.toFixed(2)} × the bare loop of the same row`,
  }));
  const cpu = report.throughput.map((row) => ({
    label: rowName(row),
    value: row.cpuMicrosPerDelivery,
    text: `${Math.round(row.cpuMicrosPerDelivery)} µs`,
    note: `${row.ratios.cpu.toFixed(2)} × the bare loop`,
  }));
  const written = report.throughput.map((row) => ({
    label: rowName(row),
    value: row.writtenBytesPerDelivery,
    text: `${(row.writtenBytesPerDelivery / 1000).toFixed(1)} KB`,
  }));
  const latency = (of: 'p50Ms' | 'p99Ms' | 'p999Ms') =>
    report.latency.map((row) => ({
      label: latencyLabel(row),
      value: row[of],
      text: `${row[of].toFixed(1)} ms`,
      note:
        of === 'p99Ms'
          ? `${row.ratios.p99.toFixed(2)} × that of the floor`
          : `${(row[of] / row.floor.ms).toFixed(2)} × floor`,
    }));
  const floor = report.latency.map((row) => ({
    label: latencyLabel(row),
    value: row.floor.ms,
    text: `${row.floor.ms.toFixed(2)} ms`,
    note: floorText(row),
  }));
  const elsewhere = (of: 'p50Ms' | 'p99Ms') =>
    ELSEWHERE.map((each) => ({
      label: each.system,
      value: each[of],
      text: `${each[of].toFixed(1)} ms`,
      note: 'measured elsewhere',
    }));
  const sections = [
    plot('Deliveries per second', throughput),
    plot('CPU per delivery', cpu),
    plot('Bytes written to the disk per delivery', written),
    plot('Latency at 200 events/s, median', latency('p50Ms'), elsewhere('p50Ms')),
    plot('Latency at 200 events/s, p99', latency('p99Ms'), elsewhere('p99Ms')),
    plot('Latency at 200 events/s, p99.9', latency('p999Ms')),
    plot('Floor of the latency, measured in between', floor),
    figures('Throughput', throughputRows(report.throughput)),
    figures('Requests and records with Kafka', trafficRows(report.throughput)),
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>hookrail benchmark</title>
<style>${STYLE}</style>
<h1>hookrail benchmark</h1>
${notesOf(report)
  .map((note) => `<p class="note">${escaped(note)}</p>`)
  .join('\n')}
${sections.join('\n')}
</html>
`;
}

/** Returns a table of figures, or nothing if there are none. */
function figures(title: string, [headings = [], ...rows]: Rows): string {
  if (rows.length === 0) return '';
  const cells = (kind: 'th' | 'td', row: readonly string[]) =>
    row.map((cell) => `<${kind}>${escaped(cell)}</${kind}>`).join('');
  return `<h2>${escaped(title)}</h2>
<div class="wide"><table class="figures">
<tr>${cells('th', headings)}</tr>
${rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('\n')}
</table></div>`;
}

function plot(title: string, own: readonly Bar[], elsewhere: readonly Bar[] = []): string {
  const most = Math.max(...own.map(({ value }) => value), ...elsewhere.map(({ value }) => value));
  const row =
    (kind: string) =>
    ({ label, value, text, note = '' }: Bar) =>
      `<tr class="${kind}"><th>${escaped(label)}</th><td><span class="bar" style="width:${((value / most) * 16).toFixed(2)}rem"></span>` +
      `${escaped(text)} <span class="note">${escaped(note)}</span></td></tr>`;
  return `<h2>${escaped(title)}</h2>
<table>
${[...own.map(row('own')), ...elsewhere.map(row('elsewhere'))].join('\n')}
</table>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
