/**
 * Injects faults into a fleet and its Kafka, chosen by a seed: kills processes and brokers (SIGKILL), pauses them
 * (SIGSTOP, later SIGCONT), kills the schema registry or PostgreSQL, forces rebalances. After every fault everything runs again; the
 * fault is recorded with its time and the number of requests in flight.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalKafka } from '../../../scripts/local-kafka/cluster.ts';
import type { LocalPostgres } from '../../../scripts/local-postgres/server.ts';
import type { Chance } from '../../../services/samples/chance.ts';
import { eventually } from '../eventually.ts';
import { clusterState, untilHealed, untilSettled } from '../kafka/cluster-state.ts';
import type { Fleet, FleetProcess, FleetRole } from '../kafka/fleet.ts';

export type FaultKind =
  | FleetRole
  | 'broker'
  | 'registry'
  | 'rebalance'
  | 'postgres'
  | 'pause-api'
  | 'pause-recorder'
  | 'pause-sender'
  | 'pause-router'
  | 'pause-broker';

export interface Fault {
  readonly kind: FaultKind;
  /** The process or node that was hit. */
  readonly victim: string;
  /** Milliseconds since the epoch: when it began, and when its effects were over. */
  readonly from: number;
  readonly to: number;
  /** Requests in flight when it began. */
  readonly inFlight: number;
}

/** Longer than a member's session timeout, so that others take over the partitions of a paused process. */
const PAUSE_MS = 15_000;
/** How long an extra sender runs before it stops. */
const VISIT_MS = 2000;
/** Longer than any fault of one process. */
const CHOSEN_MS_MAX = 300_000;

const PAUSED = {
  'pause-api': 'api',
  'pause-recorder': 'recorder',
  'pause-sender': 'sender',
  'pause-router': 'router',
} as const;

export interface NemesisOptions {
  readonly chance: Chance;
  readonly fleet: Fleet;
  readonly cluster: LocalKafka;
  readonly topicPrefix: string;
  /** The server of the store, where that is on PostgreSQL. */
  readonly postgres?: LocalPostgres;
  readonly inFlight: () => number;
  /** How long a process or broker is paused, and the registry is down. */
  readonly pauseMs?: number;
}

export class Nemesis {
  readonly faults: Fault[] = [];
  /** The processes that a fault is hitting. */
  readonly #hit = new Set<FleetProcess>();
  readonly #options: NemesisOptions;

  constructor(options: NemesisOptions) {
    this.#options = options;
  }

  /** Returns the faults in random order, in volleys of up to `atOnce` faults of different kinds. */
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

  /** Injects the faults at the same time, and resolves when all are over. */
  async strikeAll(kinds: readonly FaultKind[]): Promise<void> {
    // Rebalances last: the extra sender must not be chosen as a victim, because it has to stop cleanly.
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
      case 'postgres':
        return this.#killPostgres(note);
      case 'pause-api':
      case 'pause-recorder':
      case 'pause-sender':
      case 'pause-router':
        return this.#pauseProcess(PAUSED[kind], note);
      default:
        return this.#killProcess(kind, note);
    }
  }

  /** Pauses a process until others have taken over its work, then resumes it. */
  async #pauseProcess(role: FleetRole, note: (victim: string, to: number) => void): Promise<void> {
    const victim = await this.#choose(role);
    victim.service.process.kill('SIGSTOP');
    await sleep(this.#options.pauseMs ?? PAUSE_MS);
    victim.service.process.kill('SIGCONT');
    await victim.untilReady();
    this.#hit.delete(victim);
    await this.#settled();
    note(victim.name, Date.now());
  }

  /** Returns a process that no other fault is hitting; where all of the role are, waits for the end of one. */
  #choose(role: FleetRole): Promise<FleetProcess> {
    const { chance, fleet } = this.#options;
    const choose = () => {
      const free = fleet.of(role).filter((process) => !this.#hit.has(process));
      const victim = free.length > 0 ? chance.pick(free) : null;
      if (victim) this.#hit.add(victim);
      return victim;
    };
    return eventually(`a ${role} can be hit`, choose, CHOSEN_MS_MAX);
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
    const victim = await this.#choose(role);
    await victim.end('SIGKILL');
    await victim.start();
    await victim.untilReady();
    this.#hit.delete(victim);
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

  async #killPostgres(note: (victim: string, to: number) => void): Promise<void> {
    const { postgres, fleet } = this.#options;
    if (!postgres) throw new Error('the store of this fleet is not on PostgreSQL');
    await postgres.kill();
    await postgres.start();
    const users = [...fleet.of('api'), ...fleet.of('recorder')];
    await Promise.all(users.filter(({ isRunning }) => isRunning).map((each) => each.untilReady()));
    note('PostgreSQL', Date.now());
  }

  async #pickLeader() {
    const { cluster, topicPrefix, chance } = this.#options;
    const { led } = await clusterState(cluster, topicPrefix);
    const victim = chance.pick(cluster.nodes.filter(({ id }) => (led.get(id) ?? 0) > 0));
    return { victim, leads: led.get(victim.id) ?? 0 };
  }

  /** A process that returns causes a rebalance: the fault is over only when that is. */
  #settled(): Promise<void> {
    const { cluster, topicPrefix, fleet } = this.#options;
    return untilSettled(cluster, topicPrefix, (topic) => fleet.membersOf(topic));
  }

  /** Starts and stops an extra sender: two rebalances of every task group. */
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
      throw new Error(`a sender exited with code ${code} after SIGTERM: ${visitor.output.at(-1)}`);
  }
}
