import type { EachBatchPayload } from 'kafkajs';
import { errorLine } from '../../messages/error-message.ts';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { Outage } from '../../telemetry/outage.ts';
import { rootOf } from '../client/client.ts';
import type { MissingRights, Right } from '../rights/missing-rights.ts';
import type { Partition } from './partition.ts';

/** The interval of commits, milliseconds. */
export const COMMIT_MS = 500;

/** The pause between two tries of the last commit, milliseconds. */
const LAST_AGAIN_MS = 100;
/** The longest time for the last commit, milliseconds: brokers that are down do not hold up a stop for longer. */
const LAST_MS_MAX = 5000;

/** Longer than a rebalance or a broker's restart takes. */
const FAILING_MS = 15_000;

export interface CommitsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly topic: string;
  readonly groupId: string;
  readonly rights?: MissingRights;
  /** The partitions assigned to us now. */
  readonly partitions: () => Iterable<Partition>;
  /** Everything before `offset` is committed. */
  readonly committed?: (partition: number, offset: number) => void;
  readonly commitFailed?: () => void;
}

/** Commits the finished records of one topic: now and then, before a rebalance, and at the end. */
export class Commits {
  readonly #options: CommitsOptions;
  /** Commits in the generation that was read last; null = nothing was read. */
  #send: EachBatchPayload['commitOffsetsIfNecessary'] | null = null;
  #underWay: Promise<boolean> | null = null;
  #cancel: () => void = () => {};
  #isEnded = false;
  /** The first failure since the last success; null = the last one succeeded. */
  #failingSince: number | null = null;
  readonly #outage: Outage;

  constructor(options: CommitsOptions) {
    this.#options = options;
    const { groupId, log, topic } = options;
    this.#outage = new Outage(
      (error) =>
        log.warn(
          { topic, groupId, detail: errorLine(error) },
          `offsets cannot be committed: a restart would repeat everything since the last commit; ${remedyOf(error, options)}`,
        ),
      () => log.info({ topic, groupId }, 'offset commits succeed again'),
    );
  }

  /** Starts committing, until the end. */
  start(): void {
    const { clock } = this.#options;
    this.#cancel = clock.at(clock.now() + COMMIT_MS, () => {
      void this.commit().finally(() => {
        if (!this.#isEnded) this.start();
      });
    });
  }

  /** Null when the client has ended. */
  sendBy(send: EachBatchPayload['commitOffsetsIfNecessary'] | null): void {
    this.#send = send;
  }

  /**
   * Commits once, in one generation: the request names the generation of this moment, and is not repeated. Returns
   * false when it failed and the next one may succeed.
   */
  commit(): Promise<boolean> {
    this.#underWay ??= this.#commitOnce().finally(() => {
      this.#underWay = null;
    });
    return this.#underWay;
  }

  /**
   * Commits everything done by now, within `deadlineMs` and at most five seconds. A failed commit is repeated: a coordinator
   * that is busy or moves refuses for a moment, and no later commit includes this one.
   */
  async commitLast(deadlineMs: number): Promise<void> {
    const { clock } = this.#options;
    const limit = new AbortController();
    const expired = clock.sleep(Math.min(deadlineMs, LAST_MS_MAX), limit.signal).then(() => limit.abort());
    await Promise.race([this.#commitUntil(limit.signal), expired]);
    limit.abort();
  }

  async #commitUntil(signal: AbortSignal): Promise<void> {
    await this.#underWay;
    while (!signal.aborted && !(await this.commit())) await this.#options.clock.sleep(LAST_AGAIN_MS, signal);
  }

  end(): void {
    this.#isEnded = true;
    this.#cancel();
  }

  async #commitOnce(): Promise<boolean> {
    const { committed, partitions: ours, topic } = this.#options;
    const send = this.#send;
    const commits = [...ours()].flatMap((partition) => {
      const commit = partition.toCommit();
      return commit ? [{ partition, commit }] : [];
    });
    if (!send || commits.length === 0 || this.#isEnded) return true;
    const partitions = commits.map(({ partition, commit }) => ({ partition: partition.id, ...commit }));
    try {
      await send({ topics: [{ topic, partitions }] });
      for (const { partition, commit } of commits) {
        partition.committed(commit);
        committed?.(partition.id, Number(commit.offset));
      }
      this.#succeeded();
      return true;
    } catch (error) {
      this.#options.commitFailed?.();
      this.#failed(error);
      return isRefused(error);
    }
  }

  #succeeded(): void {
    this.#failingSince = null;
    this.#outage.succeeded();
  }

  /** Reported once: a rebalance or a broker's outage passes, and the next commit includes everything of this one. */
  #failed(error: unknown): void {
    const { clock, log, topic } = this.#options;
    log.debug({ topic, detail: errorLine(error) }, 'offsets not committed');
    this.#failingSince ??= clock.now();
    if (isRefused(error) || clock.now() - this.#failingSince >= FAILING_MS) this.#outage.failed(error);
  }
}

/** The group's coordinator gave the partitions to another member, or is about to. */
const REJOINS = ['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS', 'FENCED_INSTANCE_ID'];

/** Returns what helps, in the words of the log line. */
function remedyOf(error: unknown, { groupId, rights, topic }: CommitsOptions): string {
  const type = rootOf(error).type ?? '';
  if (isRefused(error)) {
    const missing: Right[] = [
      { operation: 'READ', resource: 'group', name: groupId },
      { operation: 'READ', resource: 'topic', name: topic },
    ];
    const commands = rights ? missing.map((right) => rights.commandFor(right)) : [];
    return ['the Kafka user needs READ on the group and on the topic', ...commands].join('; ');
  }
  if (type === 'OFFSET_METADATA_TOO_LARGE')
    return 'the brokers must accept 4096 bytes of metadata with an offset (offset.metadata.max.bytes)';
  if (REJOINS.includes(type))
    return (
      'the process joins the group again by itself; if this lasts for minutes, look for processes of the group that ' +
      'start and stop, or that stand still for seconds'
    );
  return 'the brokers have to answer: check that they run, and the network to the coordinator of the group';
}

function isRefused(error: unknown): boolean {
  return rootOf(error).type?.endsWith('_AUTHORIZATION_FAILED') ?? false;
}
