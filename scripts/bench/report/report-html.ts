import { ELSEWHERE } from './elsewhere.ts';
import { nameOf, type Report } from './report.ts';

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
  .note { color: #5b6475; }
  @media (prefers-color-scheme: dark) { body { background: #14171f; color: #e4e7ee; } .note { color: #9aa3b5; } }
`;

/** Returns the report as one HTML file that needs nothing else: a bar chart for each figure. */
export function reportHtml(report: Report): string {
  const { cpus, model, node } = report.machine;
  const rowName = ({ engine, brokers, endpoints, via }: Report['throughput'][number]) =>
    `${nameOf(engine, brokers?.count ?? 0)}, ${endpoints} endpoint${endpoints === 1 ? '' : 's'}${via === 'rest' ? ', over REST' : ''}`;
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
      label: nameOf(row.engine, row.brokers),
      value: row[of],
      text: `${row[of].toFixed(1)} ms`,
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
  ];
  const notes = [
    `${cpus} CPUs (${model}), Node ${node}; receiver and producer share them with the service and its brokers.`,
    ...report.leftOut,
    ...(report.quick ? ['Quick run: figures are noisy.'] : []),
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>hookrail benchmark</title>
<style>${STYLE}</style>
<h1>hookrail benchmark</h1>
${notes.map((note) => `<p class="note">${escaped(note)}</p>`).join('\n')}
${sections.join('\n')}
</html>
`;
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
