/**
 * Harms a fleet and its Kafka, chosen by a seed: kills processes and brokers (SIGKILL), pauses them (SIGSTOP, later
 * SIGCONT), takes the schema registry away, forces rebalances. Every fault ends with everything running again, and is kept with its time and what was
 * in flight.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalKafka } from '../../../scripts/local-kafka/cluster.ts';
import type { Chance } from '../../../services/samples/chance.ts';
import { clusterState, untilHealed, untilSettled } from '../kafka/cluster-state.ts';
import type { Fleet, FleetRole } from '../kafka/fleet.ts';

export type FaultKind =
  | FleetRole
  | 'broker'
  | 'registry'
  | 'rebalance'
  | 'pause-sender'
  | 'pause-router'
  | 'pause-broker';

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

/** Longer than a member's session: others take over what a paused process had. */
const PAUSE_MS = 15_000;
/** An extra sender works for so long before it leaves again. */
const VISIT_MS = 2000;

export interface NemesisOptions {
  readonly chance: Chance;
  readonly fleet: Fleet;
  readonly cluster: LocalKafka;
  readonly topicPrefix: string;
  readonly inFlight: () => number;
  /** How long a paused process or broker stands still, and the registry is away. */
  readonly pauseMs?: number;
}

export class Nemesis {
  readonly faults: Fault[] = [];
  readonly #options: NemesisOptions;

  constructor(options: NemesisOptions) {
    this.#options = options;
  }

  /** Volleys of so many faults, of different kinds, in an order of chance. */
  plan(counts: Readonly<Partial<Record<FaultKind, number>>>, atOnce: number): FaultKind[][] {
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
    switch (kind) {
      case 'broker':
        return this.#killLeader(note);
      case 'registry':
        return this.#killRegistry(note);
      case 'rebalance':
        return this.#rebalance(note);
      case 'pause-broker':
        return this.#pauseLeader(note);
      case 'pause-sender':
        return this.#pauseProcess('sender', note);
      case 'pause-router':
        return this.#pauseProcess('router', note);
      default:
        return this.#killProcess(kind, note);
    }
  }

  /** The process stands still until others have its work, and then goes on as if nothing had happened. */
  async #pauseProcess(role: FleetRole, note: (victim: string, to: number) => void): Promise<void> {
    const victim = this.#options.chance.pick(this.#options.fleet.of(role));
    victim.service.process.kill('SIGSTOP');
    await sleep(this.#options.pauseMs ?? PAUSE_MS);
    victim.service.process.kill('SIGCONT');
    await victim.untilReady();
    await this.#settled();
    note(victim.name, Date.now());
  }

  async #pauseLeader(note: (victim: string, to: number) => void): Promise<void> {
    const { victim, leads } = await this.#pickLeader();
    victim.pause();
    await sleep(this.#options.pauseMs ?? PAUSE_MS);
    victim.resume();
    await untilHealed(this.#options.cluster, this.#options.topicPrefix);
    await this.#settled();
    note(`node ${victim.id}, which led ${leads} partitions`, Date.now());
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
    const { victim, leads } = await this.#pickLeader();
    await victim.kill();
    await victim.start();
    await untilHealed(this.#options.cluster, this.#options.topicPrefix);
    await this.#settled();
    note(`node ${victim.id}, which led ${leads} partitions`, Date.now());
  }

  async #killRegistry(note: (victim: string, to: number) => void): Promise<void> {
    const { cluster, pauseMs = PAUSE_MS } = this.#options;
    const { registry } = cluster;
    if (!registry) throw new Error('this cluster has no schema registry');
    await registry.kill();
    await sleep(pauseMs);
    await registry.start();
    note('the schema registry', Date.now());
  }

  async #pickLeader() {
    const { cluster, topicPrefix, chance } = this.#options;
    const { led } = await clusterState(cluster, topicPrefix);
    const victim = chance.pick(cluster.nodes.filter(({ id }) => (led.get(id) ?? 0) > 0));
    return { victim, leads: led.get(victim.id) ?? 0 };
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
