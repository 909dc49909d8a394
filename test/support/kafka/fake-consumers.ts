import type { ConsumerRunConfig, EachBatchPayload, Kafka } from 'kafkajs';

type Listener = (event: { readonly payload: never }) => void;
const EVENTS = [
  'HEARTBEAT',
  'GROUP_JOIN',
  'FETCH_START',
  'FETCH',
  'REBALANCING',
  'CRASH',
  'REQUEST',
  'END_BATCH_PROCESS',
];

/**
 * Imitates a kafkajs consumer: joining lasts until `join` is called. A consumer that is disconnected while it joins still
 * becomes a member, and a consumer without a group cannot be paused.
 */
export class FakeConsumer {
  readonly events = Object.fromEntries(EVENTS.map((name) => [name, name]));
  readonly paused: number[] = [];
  readonly resumed: number[] = [];
  /** Handles a batch as if it had been fetched. */
  read: (payload: EachBatchPayload) => Promise<void> = async () => {};
  /** Whether the group counts it as a member. */
  isMember = false;
  isJoining = false;
  hasGroup = false;
  disconnects = 0;
  readonly #listeners: { readonly name: string; readonly listener: Listener }[] = [];
  #joined: () => void = () => {};

  /** Completes joining with an assignment of these partitions. */
  join(topic: string, partitions: readonly number[]): void {
    this.isJoining = false;
    this.isMember = true;
    this.emit('GROUP_JOIN', { memberId: 'member', memberAssignment: { [topic]: partitions } });
    this.#joined();
  }

  emit(name: string, payload: object): void {
    for (const one of this.#listeners) if (one.name === name) one.listener({ payload: payload as never });
  }

  on(name: string, listener: Listener): void {
    this.#listeners.push({ name, listener });
  }

  async connect(): Promise<void> {}

  async subscribe(): Promise<void> {}

  run({ eachBatch }: ConsumerRunConfig): Promise<void> {
    if (eachBatch) this.read = eachBatch;
    this.isJoining = true;
    this.hasGroup = true;
    return new Promise((resolve) => {
      this.#joined = resolve;
    });
  }

  async disconnect(): Promise<void> {
    this.disconnects += 1;
    this.hasGroup = false;
    if (!this.isJoining) this.isMember = false;
  }

  seek(): void {
    this.#needGroup();
  }

  pause([{ partitions }]: readonly [{ readonly partitions: readonly number[] }]): void {
    this.#needGroup();
    this.paused.push(...partitions);
  }

  resume([{ partitions }]: readonly [{ readonly partitions: readonly number[] }]): void {
    this.#needGroup();
    this.resumed.push(...partitions);
  }

  #needGroup(): void {
    if (!this.hasGroup)
      throw new Error('Consumer group was not initialized, consumer#run must be called first');
  }
}

/** Returns a client whose consumers are fakes, and the list of these in the order of their creation. */
export function kafkaOfFakes(): { readonly kafka: Kafka; readonly consumers: FakeConsumer[] } {
  const consumers: FakeConsumer[] = [];
  const consumer = () => {
    const made = new FakeConsumer();
    consumers.push(made);
    return made;
  };
  return { kafka: { consumer } as unknown as Kafka, consumers };
}
