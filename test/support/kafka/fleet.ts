/** The service on Kafka: a process per role, each of which can be killed and restarted. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { type Service, type ServiceSetup, startService } from '../service/system.ts';

export type FleetRole = 'api' | 'recorder' | 'router' | 'sender';

/** The value of HOOKRAIL_ROLES by role of the fleet, where the store is SQLite: one process has both roles that use it. */
export const ROLES = {
  api: 'api,recorder',
  recorder: 'recorder',
  router: 'router',
  sender: 'sender',
} as const;
/** How long a supervisor retries a start. */
const START_MS_MAX = 120_000;
const READY_MS_MAX = 60_000;

interface Readiness {
  readonly status: number;
  readonly reasons: readonly string[];
}

/** A supervised process: after a kill it can be restarted with the same environment and folder. */
export class FleetProcess {
  readonly role: FleetRole;
  readonly name: string;
  /** Starts that failed before the service ran. */
  failedStarts = 0;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #earlier: string[] = [];
  #service: Service | null = null;

  /** `roles`: the value of HOOKRAIL_ROLES. */
  constructor(
    role: FleetRole,
    name: string,
    environment: Readonly<Record<string, string>>,
    roles: string = ROLES[role],
  ) {
    this.role = role;
    this.name = name;
    this.#environment = { ...environment, HOOKRAIL_ROLES: roles };
  }

  get isRunning(): boolean {
    return this.#service !== null;
  }

  get service(): Service {
    if (!this.#service) throw new Error(`${this.name} is not running`);
    return this.#service;
  }

  /** The output of all its runs. */
  get output(): readonly string[] {
    return [...this.#earlier, ...(this.#service?.output ?? [])];
  }

  /** Starts it, and retries until it runs or the time is over; 0 = one try. */
  async start(withinMs = START_MS_MAX): Promise<void> {
    for (const until = Date.now() + withinMs; ; ) {
      try {
        const service = await startService(this.#environment);
        this.#service = service;
        // An aborted test run must not leave processes behind.
        const killIt = () => service.process.kill('SIGKILL');
        process.once('exit', killIt);
        service.process.once('exit', () => process.off('exit', killIt));
        return;
      } catch (error) {
        this.failedStarts += 1;
        this.#earlier.push(String(error));
        if (Date.now() >= until) throw error;
      }
    }
  }

  /** Sends it the signal and resolves with the exit code (null after SIGKILL) when it has exited. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const ended = this.#service;
    if (!ended) return null;
    const code = await ended.end(signal);
    // One by one: there may be more lines than a call can have arguments.
    for (const line of ended.output) this.#earlier.push(line);
    this.#service = null;
    return code;
  }

  async readiness(): Promise<Readiness> {
    const answer = await fetch(`${this.service.operationsUrl}/readyz`);
    const { reasons } = (await answer.json()) as { reasons: readonly string[] };
    return { status: answer.status, reasons };
  }

  /** Resolves when it reports ready. */
  async untilReady(): Promise<void> {
    const isReady = async () => (await this.readiness().catch(() => null))?.status === 200;
    await eventually(`${this.name} is ready`, isReady, READY_MS_MAX);
  }
}

export interface FleetOptions {
  readonly setup: ServiceSetup;
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly topicPrefix: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Numbers of processes of the roles that use the store, where it is on PostgreSQL. */
export interface StoreProcesses {
  readonly apis: number;
  readonly recorders: number;
}

/**
 * Any number of routers and senders, with one process of both api and recorder, or any number of each where the store is
 * on PostgreSQL (HOOKRAIL_STORE in the environment).
 */
export class Fleet {
  readonly processes: FleetProcess[] = [];
  readonly #options: FleetOptions;
  #nextApi = 0;
  #store: Readonly<Record<string, string>> = {};

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  get api(): FleetProcess {
    return this.#first('api');
  }

  /** The running apis in turn, as a load balancer chooses them. */
  get anyApi(): FleetProcess {
    const running = this.of('api').filter(({ isRunning }) => isRunning);
    this.#nextApi += 1;
    return running[this.#nextApi % running.length] ?? this.api;
  }

  of(role: FleetRole): FleetProcess[] {
    return this.processes.filter((process) => process.role === role);
  }

  /** Starts an api first, since it creates the topics. */
  async start(
    routers: number,
    senders: number,
    { apis, recorders }: StoreProcesses = { apis: 1, recorders: 0 },
  ): Promise<void> {
    await this.add('api').start();
    const others = [
      ...Array.from({ length: apis - 1 }, () => this.add('api')),
      ...Array.from({ length: recorders }, () => this.add('recorder')),
      ...Array.from({ length: routers }, () => this.add('router')),
      ...Array.from({ length: senders }, () => this.add('sender')),
    ];
    await Promise.all(others.map((process) => process.start()));
    await Promise.all(this.processes.map((process) => process.untilReady()));
  }

  /**
   * Starts these processes on a store on PostgreSQL, in place of the one on SQLite, which was stopped. Routers and senders
   * go on.
   */
  async moveTo(url: string, { apis, recorders }: StoreProcesses): Promise<void> {
    for (const former of this.of('api')) this.remove(former);
    this.#store = { HOOKRAIL_STORE: 'postgres', HOOKRAIL_POSTGRES_URL: url };
    const added = [
      ...Array.from({ length: apis }, () => this.add('api')),
      ...Array.from({ length: recorders }, () => this.add('recorder')),
    ];
    await Promise.all(added.map((process) => process.start()));
    await Promise.all(added.map((process) => process.untilReady()));
  }

  /** Adds a process without starting it. */
  add(role: FleetRole): FleetProcess {
    const name = `${role}-${this.of(role).length + 1}`;
    const environment = this.#environmentOf(name);
    const isApart = role === 'api' && environment.HOOKRAIL_STORE === 'postgres';
    const process = new FleetProcess(role, name, environment, isApart ? 'api' : ROLES[role]);
    this.processes.push(process);
    return process;
  }

  remove(process: FleetProcess): void {
    this.processes.splice(this.processes.indexOf(process), 1);
  }

  /** Returns the members of the group that reads a topic while all processes run. `topic`: the name without the prefix. */
  membersOf(topic: string): number | undefined {
    if (topic === 'journal') return this.of('recorder').length || this.of('api').length;
    if (topic === 'payments.events') return this.of('router').length;
    const isOfTasks = ['deliver', 'test', 'replay'].includes(topic) || topic.startsWith('retry.');
    return isOfTasks ? this.of('sender').length : undefined;
  }

  /** Stops all at the same time; rejects when one does not exit with 0. */
  async stop(): Promise<void> {
    const codes = await Promise.all(
      this.processes.map(async (each) => `${each.name} ${await each.end('SIGTERM')}`),
    );
    const wrong = codes.filter((code) => !code.endsWith(' 0'));
    if (wrong.length > 0) throw new Error(`exit codes other than 0: ${wrong.join(', ')}`);
  }

  async kill(): Promise<void> {
    await Promise.all(this.processes.map((each) => each.end('SIGKILL')));
  }

  /** The environment shared by all processes of this fleet, also for tools that open the same Kafka. */
  get environment(): Record<string, string> {
    const { setup, brokers, registryUrl, topicPrefix, environment } = this.#options;
    return {
      ...setup.environment,
      HOOKRAIL_KEYRING: join(setup.dataDir, 'keyring.json'),
      HOOKRAIL_ENGINE: 'kafka',
      HOOKRAIL_KAFKA_BROKERS: brokers.join(','),
      HOOKRAIL_SCHEMA_REGISTRY_URL: registryUrl,
      HOOKRAIL_TOPIC_PREFIX: topicPrefix,
      HOOKRAIL_EVENTS_TOPIC: `${topicPrefix}payments.events`,
      ...environment,
      ...this.#store,
    };
  }

  #environmentOf(name: string): Record<string, string> {
    // The first has the setup's own, where the store is on SQLite.
    if (name === 'api-1') return this.environment;
    const dataDir = join(this.#options.setup.dataDir, name);
    mkdirSync(dataDir, { recursive: true });
    return { ...this.environment, HOOKRAIL_DATA_DIR: dataDir };
  }

  #first(role: FleetRole): FleetProcess {
    const [first] = this.of(role);
    if (!first) throw new Error(`this fleet has no ${role}`);
    return first;
  }
}
