import { Gauge, type Registry } from 'prom-client';
import type { Broker, Follower } from '../broker/broker.ts';
import type { LostRange } from '../broker/losses.ts';
import type { Directory } from '../domain/directory.ts';
import type { KeyRing } from '../keys/keyring.ts';
import type { Descriptors } from '../process/descriptors.ts';
import type { Store } from '../store/store.ts';
import type { Readiness } from '../telemetry/operations.ts';

/** A directory not proved fresh for this long stops the sender (design: the directory). */
const STALENESS_MS_MAX = 5000;
/** The most partitions named in a response: a cluster has hundreds. */
const NAMED_MAX = 10;

export type Phase = 'starting' | 'running' | 'draining';

/** The parts of a process that readiness depends on. */
export interface ReadinessParts {
  readonly broker: Pick<Broker, 'status'>;
  readonly store: Pick<Store, 'status'> | null;
  readonly follower: Pick<Follower, 'stalenessMs'>;
  readonly directory: Directory;
  readonly descriptors: Pick<Descriptors, 'shortage'>;
  /** Null in a process that opens no secrets. */
  readonly keyRing: Pick<KeyRing, 'lacks'> | null;
  /** The name servers, and the egress proxy if there is one: none in a process that sends nothing. */
  readonly waysOut: readonly { readonly failing: string | null }[];
}

/**
 * Returns the readiness. Ready = the directory is up to date, broker and store can be written, all streams of this
 * process are being consumed, receivers can be reached, and it is neither starting nor stopping.
 */
export function readinessOf(parts: ReadinessParts, phase: Phase): Readiness {
  const status = parts.broker.status();
  const { reachable, joining, partitions, stuck, schemasWaiting } = status;
  const stalled = partitions.flatMap(({ topic, partition, stalled: stand }) =>
    stand ? [`${topic}/${partition} has made no progress for ${seconds(stand.forMs)}: ${stand.reason}`] : [],
  );
  const reasons = [
    ...(phase === 'running' ? [] : [`this process is ${phase}`]),
    ...(reachable ? [] : ['the broker cannot be written to']),
    ...(joining.length === 0 ? [] : [`not in its consumer groups yet: ${joining.join(', ')}`]),
    ...((parts.store?.status().reachable ?? true) ? [] : ['the store cannot be written to']),
    ...(parts.descriptors.shortage === null ? [] : [parts.descriptors.shortage]),
    ...(isFresh(parts) ? [] : ['the directory is not up to date']),
    ...(parts.keyRing?.lacks(parts.directory.sealedWith) ?? []),
    ...parts.waysOut.flatMap(({ failing }) =>
      failing === null ? [] : [`no receiver can be reached: ${failing}`],
    ),
    ...atMost(stalled),
  ];
  const late = partitions.flatMap(({ topic, partition, lag, oldestMs, stalled: stand }) =>
    !stand && oldestMs >= LATE_MS
      ? [`${topic}/${partition}: ${lag ?? 'some'} records wait, the oldest for ${seconds(oldestMs)}`]
      : [],
  );
  const lost = partitions.flatMap(({ topic, partition, unacknowledged }) =>
    unacknowledged ? [lossLine(topic, partition, unacknowledged)] : [],
  );
  const waiting = [
    ...(stuck.count === 0
      ? []
      : [`${stuck.count} inputs whose handler keeps failing, the oldest for ${seconds(stuck.oldestMs)}`]),
    ...atMost(status.waiting),
    ...atMost(lost),
    ...(schemasWaiting === 0
      ? []
      : [`records wait for ${schemasWaiting} schemas of the registry (HOOKRAIL_SCHEMA_REGISTRY_URL)`]),
    ...atMost(late),
  ];
  return { ready: reasons.length === 0, reasons, waiting };
}

const LATE_MS = 10_000;

function lossLine(topic: string, partition: number, { from, to, count }: LostRange): string {
  return (
    `${topic}/${partition}: at most ${count} records, offsets ${from} to ${to - 1}, were deleted before they were read; ` +
    `once that is dealt with: hookrail operator streams acknowledge ${topic} --partition ${partition}`
  );
}

/** Exports readiness as a metric for alerts. */
export function observeReadiness(registry: Registry, read: () => Readiness): void {
  new Gauge({
    name: 'hookrail_ready',
    help: '1 while /readyz reports that this process can work, otherwise 0.',
    registers: [registry],
    collect() {
      this.set(read().ready ? 1 : 0);
    },
  });
}

export function isFresh({ follower }: Pick<ReadinessParts, 'follower'>): boolean {
  return follower.stalenessMs() < STALENESS_MS_MAX;
}

function atMost(lines: readonly string[]): string[] {
  const more = lines.length - NAMED_MAX;
  return more <= 0 ? [...lines] : [...lines.slice(0, NAMED_MAX), `and ${more} more partitions`];
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
