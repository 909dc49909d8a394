/**
 * Does harm to a fleet and its Kafka, chosen by a seed: kills -9 processes and brokers, forces rebalances. Every fault ends
 * with everything running again, and is kept with its time and what was in flight.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalKafka } from '../../scripts/local-kafka/cluster.ts';
import type { Chance } from '../../services/domain/samples/chance.ts';
import { clusterState, untilHealed, untilSettled } from './cluster-state.ts';
import type { Fleet, FleetRole } from './kafka-fleet.ts';

export type FaultKind = FleetRole | 'broker' | 'rebalance';

export interface Fault {
  readonly kind: FaultKind;
  /** Whom it hit. */
  readonly victim: string;
  /** Milliseconds since the epoch: when it began, and when it could do no more. */
  readonly from: number;
  readonly to: number;
  /** Requests in flight when it began. */
  readonly inFlight: number;
}

/** An extra sender works for so long before it leaves again. */
const VISIT_MS = 2000;

export interface NemesisOptions {
  readonly chance: Chance;
  readonly fleet: Fleet;
  readonly cluster: LocalKafka;
  readonly topicPrefix: string;
  readonly inFlight: () => number;
}

export class Nemesis {
  readonly faults: Fault[] = [];
  readonly #options: NemesisOptions;

  constructor(options: NemesisOptions) {
    this.#options = options;
  }

  /** Volleys of so many faults, of different kinds, in an order of chance. */
  plan(counts: Readonly<Record<FaultKind, number>>, atOnce: number): FaultKind[][] {
    const kinds = Object.entries(counts).flatMap(([kind, count]) =>
      Array.from({ length: count }, () => kind as FaultKind),
    );
    for (let left = kinds.length; left > 1; left -= 1) {
      kinds.push(...kinds.splice(this.#options.chance.below(left), 1));
    }
    const volleys: FaultKind[][] = [];
    for (const kind of kinds) {
      const open = volleys.find((volley) => volley.length < atOnce && !volley.includes(kind));
      if (open) open.push(kind);
      else volleys.push([kind]);
    }
    return volleys;
  }

  /** All at once; resolves when all are over. */
  async strikeAll(kinds: readonly FaultKind[]): Promise<void> {
    // Victims are chosen before a visitor comes, who must be let leave.
    const order = [...kinds].sort(
      (one, other) => Number(one === 'rebalance') - Number(other === 'rebalance'),
    );
    await Promise.all(order.map((kind) => this.strike(kind)));
  }

  async strike(kind: FaultKind): Promise<void> {
    const inFlight = this.#options.inFlight();
    const from = Date.now();
    const note = (victim: string, to: number) => this.faults.push({ kind, victim, from, to, inFlight });
    if (kind === 'broker') await this.#killLeader(note);
    else if (kind === 'rebalance') await this.#rebalance(note);
    else await this.#killProcess(kind, note);
  }

  async #killProcess(role: FleetRole, note: (victim: string, to: number) => void): Promise<void> {
    const victim = this.#options.chance.pick(this.#options.fleet.of(role));
    await victim.end('SIGKILL');
    await victim.start();
    await victim.untilReady();
    await this.#settled();
    note(victim.name, Date.now());
  }

  async #killLeader(note: (victim: string, to: number) => void): Promise<void> {
    const { cluster, topicPrefix, chance } = this.#options;
    const { led } = await clusterState(cluster, topicPrefix);
    const victim = chance.pick(cluster.nodes.filter(({ id }) => (led.get(id) ?? 0) > 0));
    await victim.kill();
    await victim.start();
    await untilHealed(cluster, topicPrefix);
    await this.#settled();
    note(`node ${victim.id}, which led ${led.get(victim.id)} partitions`, Date.now());
  }

  /** Whoever comes back causes a rebalance: until that is over, the fault is not. */
  #settled(): Promise<void> {
    const { cluster, topicPrefix, fleet } = this.#options;
    return untilSettled(cluster, topicPrefix, (topic) => fleet.membersOf(topic));
  }

  /** A sender comes and leaves: two rebalances of every group of tasks. */
  async #rebalance(note: (victim: string, to: number) => void): Promise<void> {
    const { fleet } = this.#options;
    const visitor = fleet.add('sender');
    await visitor.start();
    await visitor.untilReady();
    await sleep(VISIT_MS);
    const code = await visitor.end('SIGTERM');
    fleet.remove(visitor);
    await this.#settled();
    note(visitor.name, Date.now());
    if (code !== 0)
      throw new Error(`a sender that was told to stop exited ${code}: ${visitor.output.at(-1)}`);
  }
}
