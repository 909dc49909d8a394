import type { Kafka } from 'kafkajs';

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
 * A consumer as kafkajs's: joining takes until `join` is called; one that is disconnected while it joins is forgotten and
 * joins all the same, and without a group it cannot be paused.
 */
export class FakeConsumer {
  readonly events = Object.fromEntries(EVENTS.map((name) => [name, name]));
  readonly paused: number[] = [];
  /** The group counts it among its members. */
  isMember = false;
  isJoining = false;
  hasGroup = false;
  disconnects = 0;
  readonly #listeners: { readonly name: string; readonly listener: Listener }[] = [];
  #joined: () => void = () => {};

  /** It joins, and is given these partitions of the topic. */
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

  run(): Promise<void> {
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

  resume(): void {
    this.#needGroup();
  }

  #needGroup(): void {
    if (!this.hasGroup)
      throw new Error('Consumer group was not initialized, consumer#run must be called first');
  }
}

/** A client whose consumers are fakes, kept in the order in which they were made. */
export function kafkaOfFakes(): { readonly kafka: Kafka; readonly consumers: FakeConsumer[] } {
  const consumers: FakeConsumer[] = [];
  const consumer = () => {
    const made = new FakeConsumer();
    consumers.push(made);
    return made;
  };
  return { kafka: { consumer } as unknown as Kafka, consumers };
}
