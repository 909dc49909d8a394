import { errorLine } from '../../messages/error-message.ts';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Brokers } from '../client/kafkajs-brokers.ts';
import type { PartitionQueue } from './producer-backlog.ts';

/** The shortest time between two requests for leaders. */
const LEADERS_MS = 500;
/** A request in progress for this long may have no response: its broker may be down. */
export const PROMPT_MS_MAX = 1000;

/** The leader of each partition, and the brokers that respond. */
export class ProducerNodes {
  readonly #cluster: Brokers;
  readonly #topics: readonly string[];
  readonly #clock: Clock;
  readonly #log: Logger;
  /** `topic/partition` of every partition that is written. */
  readonly #names: readonly string[];
  #leaders: ReadonlyMap<string, number> = new Map();
  #leading: ReadonlySet<number> = new Set();
  #haveAllLeaders = false;
  /** The time since when a request to a broker has been in progress, by broker. */
  readonly #busy = new Map<number, { readonly since: number; readonly queues: readonly PartitionQueue[] }>();
  /** Brokers whose last request failed as a whole. */
  readonly #failing = new Set<number>();
  /** Whether leaders must be requested, and whether the last request had no response. */
  #mustAsk = false;
  #isAsking = false;
  #isLost = false;
  #nextAskAt = 0;

  constructor(
    cluster: Brokers,
    {
      clock,
      log,
      partitions,
    }: { clock: Clock; log: Logger; readonly partitions: ReadonlyMap<string, number> },
  ) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#log = log;
    this.#topics = [...partitions.keys()];
    this.#names = [...partitions].flatMap(([topic, count]) =>
      Array.from({ length: count }, (_, partition) => `${topic}/${partition}`),
    );
  }

  /** Rejects when no broker responds. */
  async open(): Promise<void> {
    await this.#ask();
  }

  leaderOf(name: string): number | undefined {
    return this.#leaders.get(name);
  }

  isBusy(node: number): boolean {
    return this.#busy.has(node);
  }

  began(node: number, queues: readonly PartitionQueue[]): void {
    this.#busy.set(node, { since: this.#clock.now(), queues });
  }

  answered(node: number): void {
    this.#busy.delete(node);
    this.#failing.delete(node);
  }

  failed(node: number): void {
    this.#busy.delete(node);
    this.#failing.add(node);
    this.#cluster.drop(node);
    this.askSoon();
  }

  /** Some partition may have another leader now. */
  askSoon(): void {
    this.#mustAsk = true;
  }

  get mustAsk(): boolean {
    return this.#mustAsk;
  }

  /** Whether brokers respond, and some leaders accept records, as far as is known. */
  get isReachable(): boolean {
    return !this.#isLost && this.#some((node) => !this.#failing.has(node));
  }

  /** Whether some leaders have answered every request within a moment. */
  get isPrompt(): boolean {
    return !this.#isLost && this.#some((node) => this.#isPromptNode(node));
  }

  /** Whether every partition has a leader that has answered every request within a moment. */
  get areAllPrompt(): boolean {
    if (this.#isLost || this.#failing.size > 0 || !this.#haveAllLeaders) return false;
    for (const node of this.#busy.keys()) if (!this.#isPromptNode(node)) return false;
    return true;
  }

  isPromptFor(name: string): boolean {
    const leader = this.#leaders.get(name);
    return leader !== undefined && !this.#isLost && this.#isPromptNode(leader);
  }

  /**
   * Requests the leaders when that is due. Gives up requests to brokers that no longer lead and do not respond.
   * `isIdle`: no record waits that could show whether brokers accept records again. Never rejects; returns true when
   * there is a response.
   */
  async ask(isIdle: () => boolean): Promise<boolean> {
    const now = this.#clock.now();
    const isSlow = [...this.#busy.values()].some(({ since }) => now - since > PROMPT_MS_MAX);
    if (this.#isAsking || now < this.#nextAskAt || !(this.#mustAsk || isSlow)) return false;
    this.#isAsking = true;
    this.#mustAsk = false;
    try {
      await this.#ask();
      this.#isLost = false;
      this.#learnt(isIdle());
      return true;
    } catch (error) {
      if (!this.#isLost) this.#log.warn({ detail: errorLine(error) }, 'no broker answers; asking again');
      this.#isLost = true;
      this.#mustAsk = true;
      return false;
    } finally {
      this.#isAsking = false;
      this.#nextAskAt = this.#clock.now() + LEADERS_MS;
    }
  }

  async #ask(): Promise<void> {
    this.#leaders = await this.#cluster.leadersOf(this.#topics);
    this.#leading = new Set(this.#leaders.values());
    this.#haveAllLeaders = this.#names.every((name) => this.#leaders.has(name));
  }

  #learnt(isIdle: boolean): void {
    for (const node of this.#failing) if (isIdle || !this.#leading.has(node)) this.#failing.delete(node);
    for (const [node, { queues, since }] of this.#busy) {
      const isLate = this.#clock.now() - since > PROMPT_MS_MAX;
      if (isLate && queues.some(({ name }) => this.#leaders.get(name) !== node)) this.#cluster.drop(node);
    }
  }

  #isPromptNode(node: number): boolean {
    const since = this.#busy.get(node)?.since ?? Number.POSITIVE_INFINITY;
    return !this.#failing.has(node) && this.#clock.now() - since < PROMPT_MS_MAX;
  }

  #some(test: (node: number) => boolean): boolean {
    if (this.#failing.size === 0 && this.#busy.size === 0) return true;
    for (const node of this.#leading) if (test(node)) return true;
    return false;
  }
}
