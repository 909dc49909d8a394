import { formatDuration } from '../../../client/duration.ts';
import { counted, inWords } from '../../parts/words.ts';
import type { Newest, Status } from '../shapes.ts';

/** Something that is wrong, whose fault it is, and what helps. */
interface Finding {
  readonly whose: 'ours' | 'theirs' | 'producers';
  readonly says: string;
  /** The section of the runbook. */
  readonly runbook: string;
  /** The screen that has more of it. */
  readonly place?: string;
}

const SECOND_MS = 1000;
/** The limits of the alerts: docs/operate/alerts.yml. */
export const LATE_SECONDS = 60;
const OVERDUE_SECONDS = 30;
const STALE_SECONDS = 5;
const WAITING_SECONDS = 10;
export const HEADROOM_SECONDS = 86_400;
export const FREE_BYTES = 1024 ** 3;
/** The number of hosts that fail at once from which on the fault is ours: they have nothing else in common. */
const HOSTS_MIN = 5;

const lasting = (seconds: number) => formatDuration(seconds * SECOND_MS);

/** Returns everything that is wrong, our own faults first. */
export function findingsOf(status: Status, newest: Newest): readonly Finding[] {
  return [
    ...status.processes.flatMap(ofProcess),
    ...status.streams.flatMap(ofStream),
    ...ofTasks(status),
    ...ofReceivers(status, newest),
    ...ofQuarantine(status),
  ];
}

/** A fault of ours where something is the case: the section of the runbook, and what to say. */
type Check = readonly [isSo: boolean, runbook: string, says: string];

function oursOf(...checks: readonly Check[]): readonly Finding[] {
  return checks.flatMap(([isSo, runbook, says]) => (isSo ? [{ whose: 'ours', runbook, says }] : []));
}

function ofProcess(process: Status['processes'][number]): readonly Finding[] {
  const { reasons, ready, directoryStalenessSeconds: stale, producerWaitingSeconds: waits } = process;
  const { stuckHandlers: stuck } = process;
  return oursOf(
    ...reasons.map((why) => [!ready, 'HookrailNotReady', `A process is not ready: ${why}.`] as const),
    [
      stale > STALE_SECONDS,
      'HookrailDirectoryStale',
      `Senders stand still: the directory is ${lasting(stale)} old.`,
    ],
    [
      waits > WAITING_SECONDS,
      'HookrailProducerWaiting',
      `Writes have been waiting for the engine for ${lasting(waits)}.`,
    ],
    [stuck > 0, 'HookrailHandlersStuck', `The processing of ${stuck} records keeps failing.`],
  );
}

function ofStream(state: Status['streams'][number]): readonly Finding[] {
  const { stream, stalledPartitions, oldestSeconds, lostRecords: lost, headroomSeconds } = state;
  const headroom = headroomSeconds ?? Number.POSITIVE_INFINITY;
  const oldest = `the oldest record has been waiting for ${lasting(oldestSeconds)}`;
  const stalled = stalledPartitions.join(', ');
  return oursOf(
    [stalled !== '', 'HookrailPartitionStalled', `${stream}: nothing moves in ${stalled}.`],
    [oldestSeconds > LATE_SECONDS, 'HookrailLagOld', `${stream}: ${oldest}.`],
    [lost > 0, 'HookrailRecordsLost', `${stream}: retention deleted ${lost} records before they were read.`],
    [
      headroom < HEADROOM_SECONDS,
      'HookrailRetentionNear',
      `${stream}: records that wait are deleted in ${lasting(headroom)}.`,
    ],
  );
}

/** A hold is an operator's own, and a receiver that takes less than it gets is no fault of ours. */
const NOT_OURS: ReadonlySet<string> = new Set([
  'merchant_paused',
  'endpoint_full',
  'rate_limited_here',
  'origin_connections',
]);

function ofTasks({ oldestOverdueSeconds, parked, freeBytes }: Status): readonly Finding[] {
  const overdue = oldestOverdueSeconds ?? 0;
  const isFull = freeBytes !== null && freeBytes < FREE_BYTES;
  const late = `An attempt has been due for ${lasting(overdue)}, and no sender takes it.`;
  const putOff = parked.map(({ reason, count }): Check => {
    const says = `${count} attempts are put off: ${inWords(reason)}.`;
    return [!NOT_OURS.has(reason), 'HookrailTasksParked', says];
  });
  return oursOf([overdue > OVERDUE_SECONDS, 'HookrailTasksOverdue', late], ...putOff, [
    isFull,
    'HookrailEngineUnreachable',
    'The disk of the data directory is almost full.',
  ]);
}

function ofReceivers({ merchants }: Status, { failingHosts: hosts }: Newest): readonly Finding[] {
  const { failing = 0, active = 0 } = merchants?.endpoints ?? {};
  const runbook = 'HookrailAttemptsFailing';
  const way = 'at many hosts at once: look at our way out (DNS, proxy, firewall)';
  if (hosts.length >= HOSTS_MIN && failing * 2 > active)
    return oursOf([true, runbook, `${failing} of ${active} endpoints fail, ${way}.`]);
  return hosts.map(({ name, code, endpoints, failures, failingSince, merchantIds: [merchant] }) => ({
    whose: 'theirs',
    says:
      `${name} fails with ${code ?? 'an error'}: ${counted(failures, 'failure')} in a row at ` +
      `${counted(endpoints, 'endpoint')}, ${failingSince === null ? 'never a success' : `last success ${failingSince}`}.`,
    runbook,
    ...(merchant === undefined ? {} : { place: `/merchants/${merchant}` }),
  }));
}

function ofQuarantine({ quarantine }: Status): readonly Finding[] {
  return (quarantine ?? []).map(({ reason, count, oldest }) => ({
    whose: 'producers',
    says: `${counted(count, 'event')} in quarantine since ${oldest}: ${inWords(reason)}.`,
    runbook: 'HookrailQuarantined',
    place: '/quarantine',
  }));
}

/** Answers "is it us or them?" in a few words. */
export function verdictOf(findings: readonly Finding[]) {
  const has = (whose: Finding['whose']) => findings.some((each) => each.whose === whose);
  if (has('ours')) return { tone: 'bad', says: 'It is us' } as const;
  if (has('theirs')) return { tone: 'wait', says: 'It is them: receivers fail, we work' } as const;
  if (has('producers')) return { tone: 'wait', says: 'Deliveries work; events wait in quarantine' } as const;
  return { tone: 'good', says: 'Everything works' } as const;
}
