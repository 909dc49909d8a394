import { expect } from 'vitest';
import type { Broker, Consumer } from '../../../services/broker/broker.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import type { Chance } from '../../../services/samples/chance.ts';
import { eventually } from '../eventually.ts';
import { anEvent, routed } from '../records/broker-records.ts';

const ENTITIES = 3;
const BATCH_MAX = 12;
/** One in so many events is kept unsettled. */
const HELD_ONE_IN = 4;
const STOP_MS = 2000;
const DRAINED_MS_MAX = 45_000;

/** An engine that a process has opened, with its router. */
export interface Process {
  readonly broker: Broker;
  readonly consumer: Consumer;
}

/**
 * Records the events of a few entities in the order of their acceptance, and the sequences that routers saw, while
 * processes come and go on any engine.
 */
export class SequenceHistory {
  readonly processes: Process[] = [];
  /** The steps so far, for the message of a failure. */
  readonly told: string[] = [];
  readonly #chance: Chance;
  readonly #entities: readonly string[];
  readonly #accepted: DomainEvent[] = [];
  readonly #seen = new Map<string, Set<number>>();
  readonly #settled = new Set<string>();
  #isHolding: boolean;

  /** `isHolding`: routers keep some events unsettled, so that they are routed again by the next process. */
  constructor(chance: Chance, isHolding = true) {
    this.#chance = chance;
    this.#isHolding = isHolding;
    this.#entities = Array.from({ length: ENTITIES }, () => anEvent().entityId);
  }

  get events(): number {
    return this.#accepted.length;
  }

  /** The number of events that a router kept unsettled. */
  held = 0;

  /** Returns new events of the entities, for the caller to have accepted in this order. */
  some(): DomainEvent[] {
    const count = this.#chance.between(2, BATCH_MAX);
    return Array.from({ length: count }, () => anEvent({ entityId: this.#chance.pick(this.#entities) }));
  }

  /** Returns as many new events of each entity. */
  ofEach(count: number): DomainEvent[] {
    return Array.from({ length: count }, () =>
      this.#entities.map((entityId) => anEvent({ entityId })),
    ).flat();
  }

  accept(events: readonly DomainEvent[]): void {
    this.#accepted.push(...events);
  }

  /** Lets a process accept events. */
  async publish({ broker }: Pick<Process, 'broker'>, events = this.some()): Promise<void> {
    await broker.publishEvents(events);
    this.accept(events);
  }

  /** Starts the router of a process. */
  async join(broker: Broker, inline = false): Promise<Process> {
    const consumer = await broker.events.consume(
      (input) => {
        if (!input.decoded.ok) throw new Error('not decoded');
        const { event } = input.decoded;
        this.#seen.set(event.eventId, (this.#seen.get(event.eventId) ?? new Set()).add(event.sequence ?? 0));
        if (!inline && this.#isHolding && this.#chance.below(HELD_ONE_IN) === 0) {
          this.held += 1;
          return new Promise(() => {});
        }
        this.#settled.add(event.eventId);
        return { kind: 'routed', tasks: [], journal: routed(event) };
      },
      { inFlightMax: 50, ...(inline ? { inline: { isPure: true as const } } : {}) },
    );
    const process = { broker, consumer };
    this.processes.push(process);
    return process;
  }

  /** Ends a process in order; what its router still holds comes again elsewhere. */
  async leave(process: Process): Promise<void> {
    this.forget(process);
    await process.consumer.stop(STOP_MS);
    await process.broker.close();
  }

  forget(process: Process): void {
    this.processes.splice(this.processes.indexOf(process), 1);
  }

  /** Resolves when a process that holds nothing back has routed all that was accepted. */
  async drained(open: () => Promise<Broker>): Promise<void> {
    this.#isHolding = false;
    for (const process of [...this.processes]) await this.leave(process);
    const process = await this.join(await open());
    await this.untilRouted();
    await this.leave(process);
    this.#isHolding = true;
  }

  /** Resolves when all that was accepted is routed, where nothing is held back. */
  async untilRouted(): Promise<void> {
    const left = () => this.#accepted.filter(({ eventId }) => !this.#settled.has(eventId));
    await eventually('all events are routed', () => left().length === 0, DRAINED_MS_MAX).catch((error) => {
      throw new Error(`${error}; ${left().length} of ${this.events} are not, after: ${this.told.join(', ')}`);
    });
  }

  /** Expects each event to have one sequence, and those of each entity to rise in the order of acceptance. */
  expectRising(): void {
    const last = new Map<string, number>();
    const wrong: string[] = [];
    for (const [index, { eventId, entityId }] of this.#accepted.entries()) {
      const given = [...(this.#seen.get(eventId) ?? [])];
      const [sequence = 0] = given;
      if (given.length !== 1) wrong.push(`event ${index} has the sequences ${given.join(' and ') || 'none'}`);
      const before = last.get(entityId) ?? 0;
      if (sequence <= before) wrong.push(`event ${index} has ${sequence} after ${before}`);
      last.set(entityId, sequence);
    }
    expect(wrong, this.told.join(', ')).toEqual([]);
  }
}
