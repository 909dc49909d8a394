import { durationText } from '../../messages/relative-time.ts';
import { plain, WIDTH } from '../../messages/text-layout.ts';
import { on } from '../commands/command.ts';
import type { MerchantsSummary } from '../commands/look/merchant.ts';
import { freeBytes, type ServiceStatus, type Summary, serviceStatus } from '../commands/service-status.ts';
import { operationsUrl, recordStoreSummaries } from './ask.ts';

/** The command that shows the state of a running service. */

export const STATUS_COMMANDS = {
  status: on('tool', {
    describe: 'Show the state of a running service; ends with 1 when a process is not ready',
    isRead: true,
    args: {
      urls: {
        type: 'texts',
        positional: true,
        describe: 'Operations addresses of its other processes, such as http://router-1:8081',
      },
    },
    runs: 'here, beside a running service',
    run: async ({ config, actor }, { urls = [] }) =>
      serviceStatus([operationsUrl(config()), ...urls], {
        ...(await recordStoreSummaries(config(), actor())),
        freeBytes: await freeBytes(config().dataDir),
      }),
    text: statusText,
    isFailure: ({ processes }) => processes.some(({ ready }) => !ready),
  }),
};

const MIB = 1024 * 1024;
const READERS = { events: 'routers', tasks: 'senders', delayed: 'senders', journal: 'recorders' } as const;

/** Prints the state, a paragraph per item. */
export function statusText(status: ServiceStatus): string {
  const lines = [
    ...status.processes.flatMap(processLines),
    ...status.streams.map(streamLine),
    `parked tasks: ${parkedText(status.parked)}`,
    `overdue tasks: ${overdueText(status.oldestOverdueSeconds)}`,
    `quarantine: ${storeLine(status.quarantine)}`,
    `dead letters: ${storeLine(status.deadLetters)}`,
    ...merchantLines(status.merchants),
    ...(status.freeBytes === null ? [] : [`free disk: ${Math.floor(status.freeBytes / MIB)} MiB`]),
  ];
  return plain.fold(lines.join('\n'), WIDTH);
}

function processLines(process: ServiceStatus['processes'][number]): string[] {
  const { url, ready, reasons, waiting, plainConnections } = process;
  const withoutTls = plainConnections.map(({ to, setting }) => `${to} (${setting})`);
  const producer =
    process.producerWaitingBytes === 0
      ? 'nothing waits to be written'
      : `${process.producerWaitingBytes} bytes wait to be written, the oldest for ${durationText(process.producerWaitingSeconds)}`;
  return [
    `${url}: ${ready ? 'ready' : 'NOT READY'}; ${producer}; directory proved up to date ${durationText(process.directoryStalenessSeconds)} ago; ` +
      `stuck handlers: ${process.stuckHandlers === 0 ? 'none' : process.stuckHandlers}`,
    ...runLines(process),
    ...reasons.map((reason) => `  not ready: ${reason}`),
    ...waiting.map((line) => `  waiting: ${line}`),
    ...(withoutTls.length === 0 ? [] : [`  without TLS: ${withoutTls.join(', ')}`]),
  ];
}

function runLines({ version, uptimeSeconds }: ServiceStatus['processes'][number]): string[] {
  const parts = [
    ...(version === null ? [] : [`version ${version}`]),
    ...(uptimeSeconds === null ? [] : [`up for ${durationText(uptimeSeconds)}`]),
  ];
  return parts.length === 0 ? [] : [`  ${parts.join(', ')}`];
}

function parkedText(parked: ServiceStatus['parked']): string {
  if (parked.length === 0) return 'none';
  return parked
    .map(
      ({ reason, count, oldestSeconds }) =>
        `${count} ${reason}, the oldest for ${durationText(oldestSeconds)}`,
    )
    .join('; ');
}

function overdueText(seconds: number | null): string {
  if (seconds === null)
    return 'not known yet: the processes ask the brokers now, run this again in five seconds';
  return seconds < 1 ? 'none' : `the oldest for ${durationText(seconds)}`;
}

function streamLine(stream: ServiceStatus['streams'][number]): string {
  if (!stream.isRead) {
    const readers = READERS[stream.stream as keyof typeof READERS];
    return `${stream.stream}: not read by these processes; ${readers} read it: pass their operations addresses`;
  }
  const parts = [
    stream.waiting === 0 && stream.oldestSeconds < 1
      ? 'nothing waits'
      : `${stream.waiting} records wait, the oldest for ${durationText(stream.oldestSeconds)}`,
    ...(stream.stalledPartitions.length === 0 ? [] : [`STALLED: ${stream.stalledPartitions.join(', ')}`]),
    ...(stream.lostRecords === 0 ? [] : [`LOST since the start: ${stream.lostRecords} records`]),
  ];
  return `${stream.stream}: ${parts.join('; ')}`;
}

function storeLine(summary: Summary): string {
  if (summary === null) return 'unknown: no process with the api role was reached';
  if (summary.length === 0) return 'empty';
  return summary.map(({ reason, count }) => `${count} ${reason}`).join(', ');
}

function merchantLines(merchants: MerchantsSummary | null): string[] {
  if (merchants === null) return [];
  const { onHold, endpoints } = merchants;
  const more = onHold.count > onHold.names.length ? ', …' : '';
  const held = onHold.count === 0 ? 'none' : `${onHold.count}: ${onHold.names.join(', ')}${more}`;
  const { active, disabled, auto_disabled: auto, failing } = endpoints;
  return [
    `merchants on hold: ${held}`,
    `endpoints: ${active} active, ${failing} of them failing; ${disabled + auto} disabled, ${auto} of them by hookrail`,
  ];
}
