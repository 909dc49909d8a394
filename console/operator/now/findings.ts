import { formatDuration } from '../../../client/duration.ts';
import { inWords } from '../../parts/words.ts';
import type { Newest, Status } from '../shapes.ts';

/** Something that is wrong, whose fault it is, and what helps. */
export interface Finding {
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
    ...ofDisk(status),
    ...ofReceivers(status, newest),
    ...ofQuarantine(status),
  ];
}

const ours = (runbook: string, says: string): Finding => ({ whose: 'ours', says, runbook });

function ofProcess(process: Status['processes'][number]): Finding[] {
  const { reasons, ready, directoryStalenessSeconds: stale, producerWaitingSeconds: waits } = process;
  return [
    ...(ready ? [] : reasons.map((reason) => ours('HookrailNotReady', `A process is not ready: ${reason}.`))),
    ...(stale > STALE_SECONDS
      ? [ours('HookrailDirectoryStale', `Senders stand still: the directory is ${lasting(stale)} old.`)]
      : []),
    ...(waits > WAITING_SECONDS
      ? [ours('HookrailProducerWaiting', `Writes have been waiting for the engine for ${lasting(waits)}.`)]
      : []),
    ...(process.stuckHandlers > 0
      ? [ours('HookrailHandlersStuck', `The processing of ${process.stuckHandlers} records keeps failing.`)]
      : []),
  ];
}

function ofStream(state: Status['streams'][number]): Finding[] {
  const { stream, stalledPartitions, oldestSeconds, lostRecords, headroomSeconds: headroom } = state;
  return [
    ...(stalledPartitions.length > 0
      ? [ours('HookrailPartitionStalled', `${stream}: nothing moves in ${stalledPartitions.join(', ')}.`)]
      : []),
    ...(oldestSeconds > LATE_SECONDS
      ? [
          ours(
            'HookrailLagOld',
            `${stream}: the oldest record has been waiting for ${lasting(oldestSeconds)}.`,
          ),
        ]
      : []),
    ...(lostRecords > 0
      ? [
          ours(
            'HookrailRecordsLost',
            `${stream}: retention deleted ${lostRecords} records before they were read.`,
          ),
        ]
      : []),
    ...(headroom !== null && headroom < HEADROOM_SECONDS
      ? [ours('HookrailRetentionNear', `${stream}: records that wait are deleted in ${lasting(headroom)}.`)]
      : []),
  ];
}

/** A hold is an operator's own, and a receiver that takes less than it gets is no fault of ours. */
const NOT_OURS: ReadonlySet<string> = new Set(['merchant_paused', 'endpoint_full', 'origin_connections']);

function ofTasks({ oldestOverdueSeconds: overdue, parked }: Status): Finding[] {
  const put = parked.filter(({ reason }) => !NOT_OURS.has(reason));
  return [
    ...((overdue ?? 0) > OVERDUE_SECONDS
      ? [
          ours(
            'HookrailTasksOverdue',
            `An attempt has been due for ${lasting(overdue ?? 0)}, and no sender takes it.`,
          ),
        ]
      : []),
    ...put.map(({ reason, count }) =>
      ours('HookrailTasksParked', `${count} attempts are put off: ${inWords(reason)}.`),
    ),
  ];
}

function ofDisk({ freeBytes }: Status): Finding[] {
  return freeBytes !== null && freeBytes < FREE_BYTES
    ? [ours('HookrailEngineUnreachable', 'The disk of the data directory is almost full.')]
    : [];
}

function ofReceivers({ merchants }: Status, { failingHosts: hosts }: Newest): Finding[] {
  const { failing = 0, active = 0 } = merchants?.endpoints ?? {};
  if (hosts.length >= HOSTS_MIN && failing * 2 > active)
    return [
      ours(
        'HookrailAttemptsFailing',
        `${failing} of ${active} endpoints fail, at many hosts at once: look at our way out (DNS, proxy, firewall).`,
      ),
    ];
  return hosts.map(({ name, code, endpoints, failures, failingSince, merchantIds: [merchant] }) => ({
    whose: 'theirs',
    says:
      `${name} fails with ${code ?? 'an error'}: ${times(failures, 'failure')} in a row at ${times(endpoints, 'endpoint')}, ` +
      (failingSince === null ? 'never a success.' : `last success ${failingSince}.`),
    runbook: 'HookrailAttemptsFailing',
    ...(merchant === undefined ? {} : { place: `/merchants/${merchant}` }),
  }));
}

const times = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

function ofQuarantine({ quarantine }: Status): Finding[] {
  return (quarantine ?? []).map(({ reason, count, oldest }) => ({
    whose: 'producers',
    says: `${times(count, 'event')} in quarantine since ${oldest}: ${inWords(reason)}.`,
    runbook: 'HookrailQuarantined',
    place: '/quarantine',
  }));
}

/** Answers "is it us or them?" in a few words. */
export function verdictOf(findings: readonly Finding[]): {
  readonly tone: 'good' | 'bad' | 'wait';
  readonly says: string;
} {
  const has = (whose: Finding['whose']) => findings.some((each) => each.whose === whose);
  if (has('ours')) return { tone: 'bad', says: 'It is us' };
  if (has('theirs')) return { tone: 'wait', says: 'It is them: receivers fail, we work' };
  if (has('producers')) return { tone: 'wait', says: 'Deliveries work; events wait in quarantine' };
  return { tone: 'good', says: 'Everything works' };
}
