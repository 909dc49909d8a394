import { type ApiClient, bodyOf } from '../client/api-client.ts';
import { MerchantApi } from '../client/merchant-api.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { openAuthority } from '../receiver/certificate-authority.ts';
import { isCopyOf, judgeAll, type Observed, type Verdict } from '../scenario/expectations.ts';
import type { PlannedAction, PlannedStep } from '../scenario/plan.ts';
import { describeCondition, type Stage } from '../scenario/player.ts';
import {
  type Condition,
  type Expectation,
  PLAIN_ENDPOINT,
  type Scenario,
} from '../scenario/scenario-format.ts';
import { exchange, type OwnRequest, ownRequest } from '../sinks/direct.ts';
import type { EventSink } from '../sinks/sinks.ts';
import { Evidence } from './evidence.ts';
import { NotCheckable, timeToExhaust, tooSlow } from './patience.ts';
import { type Staged, stageEndpoint } from './staged-endpoint.ts';

export interface StageOptions {
  readonly scenario: Pick<Scenario, 'name' | 'endpoints'>;
  readonly steps: readonly PlannedStep[];
  readonly client: ApiClient;
  /** Is not cut off by Ctrl-C, so that the endpoints are removed. */
  readonly removingClient: ApiClient;
  /** Holds the authority that the sandbox trusts. */
  readonly dataDir: string;
  readonly sink: EventSink;
  readonly pause: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
  /** The longest wait for a condition or an expectation, milliseconds. */
  readonly patienceMs: number;
  /** A plain endpoint that several runs use: it stands for the scenario's only one, and stays when the run ends. */
  readonly shared?: Staged | undefined;
}

/** A new endpoint gets every event acknowledged a second or more after its creation (docs/design.md). */
const IN_FORCE_MS = 1100;
const FIRST_LOOK_MS = 60;
const LOOK_GROWTH = 1.4;
const LOOK_MS_MAX = 1000;
/** An endpoint is disabled with the attempt that reaches the limits, or not at all. */
const AUTO_DISABLE_MS = 8000;

/** The endpoints of a scenario's own with their receivers, and what a run does to them. */
export class ScenarioStage implements Stage {
  readonly #options: StageOptions;
  readonly #api: MerchantApi;
  readonly #endpoints: Staged[] = [];
  readonly #evidence: Evidence;
  /** Statuses with which receivers answered forged webhooks, by step. */
  readonly #answers = new Map<string, number>();
  #ca = '';

  private constructor(options: StageOptions) {
    this.#options = options;
    this.#api = new MerchantApi(options.client);
    this.#evidence = new Evidence(this.#api, this.#endpoints);
  }

  /** Starts the receivers and registers them. Resolves when events are routed to them. */
  static async open(options: StageOptions): Promise<ScenarioStage> {
    const stage = new ScenarioStage(options);
    try {
      const authority = await openAuthority(options.dataDir);
      stage.#ca = authority.certPem;
      const wanted = Object.entries(options.scenario.endpoints);
      if (options.shared !== undefined) {
        for (const [name] of wanted) stage.#endpoints.push({ ...options.shared, name });
        return stage;
      }
      for (const [name, endpoint] of wanted) {
        const description = `${options.scenario.name}: ${name} (of a scenario, removed when it ends)`;
        stage.#endpoints.push(await stageEndpoint(stage.#api, authority, description, { ...endpoint, name }));
      }
      await options.pause(IN_FORCE_MS);
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  /** Notes that a step was sent. */
  sent(step: PlannedStep, at: number): void {
    this.#evidence.sent(step.id, at);
  }

  async perform({ id, action }: PlannedAction): Promise<void> {
    switch (action.kind) {
      case 'behave':
        this.#endpoint(action.endpoint).behave(action.as);
        break;
      case 'repeat':
        await this.#options.sink.send(this.#steps(action.step).map(({ event }) => event));
        break;
      case 'resend':
        for (const step of this.#steps(action.step)) await this.#resend(step);
        break;
      case 'forge':
      case 'overtaken':
        await this.#sendOwn(id, action);
        break;
      default:
        await this.#change(this.#endpoint(action.endpoint), action.kind);
    }
  }

  async #change(endpoint: Staged, kind: 'rotate' | 'disable' | 'enable' | 'delete'): Promise<void> {
    const { uuid } = endpoint;
    switch (kind) {
      case 'rotate':
        endpoint.secret = (await this.#api.rotateSecret(uuid)).signing_secret;
        endpoint.receiver.setSecret(endpoint.secret);
        break;
      case 'disable':
        await this.#api.updateEndpoint(uuid, { status: 'disabled' });
        break;
      case 'enable':
        await this.#api.updateEndpoint(uuid, { status: 'active' });
        break;
      case 'delete':
        endpoint.isDeleted = true;
        await this.#api.deleteEndpoint(uuid);
    }
  }

  async #resend({ event }: PlannedStep): Promise<void> {
    const { endpoints } = await this.#api.event(event.eventId);
    const path = '/merchant/webhook-endpoints/{id}/deliveries/{delivery_id}/resend' as const;
    for (const { uuid, isDeleted } of this.#endpoints) {
      const delivery = endpoints.find((traced) => traced.endpoint_uuid === uuid)?.delivery_uuid;
      if (delivery === undefined || delivery === null || isDeleted) continue;
      const params = { path: { id: uuid, delivery_id: delivery } };
      await bodyOf(this.#options.client.rest.POST(path, { params }));
    }
  }

  async #sendOwn(id: string, action: OwnRequest): Promise<void> {
    const [first] = this.#steps(action.step);
    const [endpoint] = this.#endpoints;
    if (first === undefined || endpoint === undefined) return;
    const target = { url: endpoint.receiver.url, secret: endpoint.secret, ca: this.#ca };
    this.#answers.set(id, await exchange(target, ownRequest(first.event, target, Date.now(), action)));
  }

  async until(condition: Condition): Promise<void> {
    const deadline = Date.now() + this.#options.patienceMs;
    let waitMs = FIRST_LOOK_MS;
    while (!this.#options.signal.aborted) {
      if (await this.#holds(condition, deadline)) return;
      if (Date.now() >= deadline) {
        throw new CommandFailure(EXIT.expectation, `waited in vain for ${describeCondition(condition)}`);
      }
      await this.#options.pause(waitMs);
      waitMs = Math.min(LOOK_MS_MAX, waitMs * LOOK_GROWTH);
    }
  }

  async #holds(condition: Condition, deadline: number): Promise<boolean> {
    if (condition.kind === 'endpoint') {
      const { status } = await this.#api.endpoint(this.#endpoint(condition.endpoint).uuid);
      return status === condition.status;
    }
    const observed = await this.#observe(condition.step);
    if (condition.status === 'exhausted') mustBeInTime(observed, deadline);
    // A delivery that has failed may have failed for good by now.
    const hasFailed = observed.flatMap(({ outcomes }) => outcomes).some(isFailure);
    if (condition.status === 'failed' && hasFailed) return true;
    const expectation = {
      step: condition.step,
      status: condition.status,
      withinMs: Number.POSITIVE_INFINITY,
    };
    return judgeAll(expectation, observed).met;
  }

  /** Waits until an expectation is met, or cannot be met any more, or its time is over. */
  async judge(expectation: Expectation): Promise<Verdict> {
    const { step, endpoint, withinMs } = expectation;
    const forged = this.#answers.get(step);
    if (forged !== undefined) return forgedVerdict(expectation, forged);
    const patienceMs =
      step === '' ? Math.min(AUTO_DISABLE_MS, this.#options.patienceMs) : this.#options.patienceMs;
    const deadline = Date.now() + Math.min(withinMs, patienceMs);
    let waitMs = FIRST_LOOK_MS;
    for (;;) {
      const isLast = Date.now() >= deadline || this.#options.signal.aborted;
      if (isLast || step === '' || this.#mayHaveNews(expectation, waitMs)) {
        const verdict =
          step === ''
            ? await this.#judgeEndpoint(expectation, endpoint ?? '', isLast)
            : await this.#judgeStep(expectation, deadline);
        if (verdict.met || isLast || verdict.isFinal) return verdict;
      }
      await this.#options.pause(waitMs);
      waitMs = Math.min(LOOK_MS_MAX, waitMs * LOOK_GROWTH);
    }
  }

  /** Returns whether to ask the API: a delivery is rarely over before its receiver got a request. */
  #mayHaveNews({ step, endpoint, status }: Expectation, waitMs: number): boolean {
    if (status !== 'delivered' || waitMs * LOOK_GROWTH > LOOK_MS_MAX) return true;
    const staged = this.#endpoints.filter(({ name }) => endpoint === undefined || name === endpoint);
    return this.#steps(step).every((planned) =>
      staged.every((one) => this.#evidence.arrivals(one, planned).some(({ answered }) => answered !== '500')),
    );
  }

  async #judgeStep(expectation: Expectation, deadline: number): Promise<Verdict & { isFinal: boolean }> {
    const observed = await this.#observe(expectation.step);
    const verdict = judgeAll(expectation, observed);
    if (!verdict.met && expectation.status === 'exhausted') mustBeInTime(observed, deadline);
    const outcomes = observed.flatMap((one) => one.outcomes);
    const isOver =
      observed.every(({ routed }) => routed) && outcomes.every(({ status }) => OVER.includes(status));
    // Resends may still be on their way.
    return { ...verdict, isFinal: isOver && expectation.requests === undefined };
  }

  async #judgeEndpoint(
    expectation: Expectation,
    name: string,
    isLast: boolean,
  ): Promise<Verdict & { isFinal: boolean }> {
    const { status, disabled_reason: reason } = await this.#api.endpoint(this.#endpoint(name).uuid);
    const hasReason = expectation.reason === undefined || reason === expectation.reason;
    const met = status === expectation.status && hasReason;
    if (!met && isLast && expectation.reason === 'consecutive_failures' && status === 'active') {
      throw new NotCheckable('this sandbox disables a failing endpoint only after hours without a success');
    }
    return { expectation, met, found: reason === null ? status : `${status} (${reason})`, isFinal: false };
  }

  async #observe(step: string): Promise<readonly Observed[]> {
    const seen = await Promise.all(this.#steps(step).map((planned) => this.#evidence.observe(planned)));
    return seen.filter((observed) => observed !== undefined);
  }

  #steps(step: string): readonly PlannedStep[] {
    return this.#options.steps.filter(({ id }) => isCopyOf(id, step));
  }

  #endpoint(name: string): Staged {
    const found = this.#endpoints.find((endpoint) => endpoint.name === name);
    if (found === undefined) throw new TypeError(`the stage has no endpoint "${name}"`);
    return found;
  }

  /** Removes the endpoints and closes their receivers, also after Ctrl-C. Never rejects. */
  async close(): Promise<void> {
    const endpoints = this.#endpoints.splice(0);
    if (this.#options.shared === undefined) await unstage(endpoints, this.#options.removingClient);
  }
}

/** Starts a plain endpoint that several runs can share. Resolves when events are routed to it. */
export async function stagePlain(
  options: Omit<StageOptions, 'scenario' | 'steps' | 'sink'>,
): Promise<Staged> {
  const authority = await openAuthority(options.dataDir);
  const description = 'hookrail sim scenarios check (removed when it ends)';
  const plain = { ...PLAIN_ENDPOINT, name: 'main' };
  const staged = await stageEndpoint(new MerchantApi(options.client), authority, description, plain);
  await options.pause(IN_FORCE_MS);
  return staged;
}

/** Removes endpoints and closes their receivers. Never rejects. */
export async function unstage(endpoints: readonly Staged[], client: ApiClient): Promise<void> {
  const api = new MerchantApi(client);
  for (const { uuid, isDeleted, receiver } of endpoints) {
    // One that is left behind can be deleted by hand; its description says whose it is.
    if (!isDeleted) await api.deleteEndpoint(uuid).catch(() => {});
    await receiver.close();
  }
}

const OVER = ['delivered', 'exhausted', 'refused', 'cancelled', 'skipped'];

function isFailure({ status, attempts }: Observed['outcomes'][number]): boolean {
  return attempts > 0 && (status === 'failed' || status === 'exhausted' || status === 'refused');
}

/** Throws NotCheckable when a delivery cannot have failed seven times before the deadline. */
function mustBeInTime(observed: readonly Observed[], deadline: number): void {
  for (const outcome of observed.flatMap(({ outcomes }) => outcomes)) {
    const remainingMs = timeToExhaust(outcome);
    if (remainingMs !== undefined && Date.now() + remainingMs > deadline) throw tooSlow(remainingMs);
  }
}

function forgedVerdict(expectation: Expectation, status: number): Verdict {
  const isRejected = status >= 400 && status < 500;
  const isAccepted = status >= 200 && status < 300;
  const met = expectation.status === 'rejected' ? isRejected : isAccepted;
  return { expectation, met, found: `the receiver answered ${status}` };
}
