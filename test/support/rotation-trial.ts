/** Rotations and creates against a running service under load, judged by the receiver's own log. */
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonEventOf } from './events.ts';
import { eventually } from './eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from './logging-receiver.ts';
import { MerchantClient } from './merchant-client.ts';
import type { Premises, Service } from './system.ts';

/** No attempt starts under what was replaced longer ago than this; an event this old knows a new endpoint. */
const IN_FORCE_MS = 1000;
const ENDPOINTS = 10;
const CREATING_AT_ONCE = 20;
/** A batch of events in each step; every endpoint gets every event. */
const EVENTS_PER_STEP = 5;
const STEP_MS = 100;

interface Rotating {
  readonly uuid: string;
  readonly path: string;
  /** In order; `until`: when the answer of the rotation came that replaced it. */
  readonly secrets: { readonly authorization: string; until: number }[];
}

export interface RotationsResult {
  readonly rotations: number;
  readonly seconds: number;
  readonly requests: number;
  /** Requests with a secret whose replacement had been answered. */
  readonly afterAnswer: number;
  /** How long after it the latest of them came, milliseconds. */
  readonly latestMs: number;
  /** One line each: attempts that started too late under an old secret, or under one that never was. */
  readonly wrong: readonly string[];
}

export interface CreatesResult {
  readonly creates: number;
  /** Paths of new endpoints that did not get the event. */
  readonly missed: readonly string[];
}

export class RotationTrial {
  readonly #premises: Premises;
  readonly #merchant: MerchantClient;
  readonly #receiver: LoggingReceiver;
  /** `<path> <event id>` of what came. */
  readonly #arrived: Set<string>;
  #events = 0;

  private constructor(
    premises: Premises,
    merchant: MerchantClient,
    receiver: LoggingReceiver,
    arrived: Set<string>,
  ) {
    this.#premises = premises;
    this.#merchant = merchant;
    this.#receiver = receiver;
    this.#arrived = arrived;
  }

  /** A third of the attempts at rotating endpoints fail, so that retries wait while their secret is replaced. */
  static async start(premises: Premises, service: () => Pick<Service, 'apiUrl'>): Promise<RotationTrial> {
    const arrived = new Set<string>();
    let count = 0;
    const receiver = await startLoggingReceiver(premises.receiverCert, async ({ path, eventId }) => {
      arrived.add(`${path} ${eventId}`);
      if (!path.startsWith('/rotating')) return 200;
      count += 1;
      await sleep(count % 20);
      return count % 3 === 0 ? 500 : 200;
    });
    return new RotationTrial(premises, new MerchantClient(premises, service), receiver, arrived);
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }

  /** Each endpoint's secret is replaced again and again, all endpoints at once, while events are delivered to all. */
  async rotate(rotations: number): Promise<RotationsResult> {
    const endpoints = await Promise.all(
      Array.from({ length: ENDPOINTS }, async (_, n): Promise<Rotating> => {
        const path = `/rotating/${n}`;
        const made = await this.#merchant.createEndpoint(this.#receiver.url + path);
        const secrets = [
          { authorization: `API-Key ${made.signing_secret}`, until: Number.POSITIVE_INFINITY },
        ];
        return { uuid: made.uuid, path, secrets };
      }),
    );
    await sleep(IN_FORCE_MS);
    const over = new AbortController();
    const load = this.#publishUntil(over.signal);
    const startedAt = Date.now();
    await Promise.all(endpoints.map((each) => this.#rotateOne(each, Math.ceil(rotations / ENDPOINTS))));
    const seconds = (Date.now() - startedAt) / 1000;
    // What is still under way may use an old secret, too.
    await sleep(2 * IN_FORCE_MS);
    over.abort();
    await load;
    const judged = await this.#judge(endpoints);
    for (const { uuid } of endpoints)
      await this.#merchant.request('DELETE', `/merchant/webhook-endpoints/${uuid}`);
    const requests = this.#receiver.arrivals.length;
    return { rotations: endpoints.length * Math.ceil(rotations / ENDPOINTS), seconds, requests, ...judged };
  }

  /** Endpoints that are made get an event that is published `IN_FORCE_MS` after the answer. */
  async create(creates: number): Promise<CreatesResult> {
    const missed: string[] = [];
    let begun = 0;
    const worker = async () => {
      while (begun < creates) {
        begun += 1;
        const path = `/created/${begun}`;
        const { uuid } = await this.#merchant.createEndpoint(this.#receiver.url + path);
        await sleep(IN_FORCE_MS);
        const [eventId] = await this.#publish(1);
        await eventually(`${path} has its event`, () => this.#arrived.has(`${path} ${eventId}`)).catch(() =>
          missed.push(path),
        );
        await this.#merchant.request('DELETE', `/merchant/webhook-endpoints/${uuid}`);
      }
    };
    await Promise.all(Array.from({ length: Math.min(CREATING_AT_ONCE, creates) }, worker));
    return { creates, missed };
  }

  async #rotateOne({ uuid, secrets }: Rotating, times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      const path = `/merchant/webhook-endpoints/${uuid}/secret`;
      // The new one is in use before its answer is here.
      const answer = await this.#merchant.request('PATCH', path);
      if (answer.status !== 200)
        throw new Error(`a rotation answered ${answer.status} ${JSON.stringify(answer.body)}`);
      const replaced = secrets.at(-1);
      if (replaced) replaced.until = Date.now();
      secrets.push({
        authorization: `API-Key ${answer.body.signing_secret}`,
        until: Number.POSITIVE_INFINITY,
      });
    }
  }

  async #publishUntil(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await this.#publish(EVENTS_PER_STEP);
      await sleep(STEP_MS);
    }
  }

  async #publish(count: number): Promise<string[]> {
    const { merchantId, dataDir } = this.#premises;
    const events = Array.from({ length: count }, () =>
      jsonEventOf(merchantId, `${dataDir} ${this.#events++}`),
    );
    const answer = await this.#merchant.publish(events);
    if (answer.status !== 202) throw new Error(`publishing answered ${answer.status}`);
    return events.map(({ header }) => header.eventId);
  }

  async #judge(
    endpoints: readonly Rotating[],
  ): Promise<Pick<RotationsResult, 'afterAnswer' | 'latestMs' | 'wrong'>> {
    const byPath = new Map(endpoints.map((each) => [each.path, each]));
    const untilOf = new Map(
      endpoints.flatMap(({ path, secrets }) =>
        secrets.map(({ authorization, until }) => [`${path} ${authorization}`, until] as const),
      ),
    );
    const wrong: string[] = [];
    let afterAnswer = 0;
    let latestMs = 0;
    for (const { path, authorization, at, deliveryId, attempt } of this.#receiver.arrivals) {
      const endpoint = byPath.get(path);
      if (!endpoint) continue;
      const until = untilOf.get(`${path} ${authorization}`);
      if (until === undefined)
        wrong.push(`${path}#${attempt} came with a secret that the endpoint never had`);
      else if (at > until) {
        afterAnswer += 1;
        latestMs = Math.max(latestMs, at - until);
        // It came later than it started; only when it started counts.
        if (at <= until + IN_FORCE_MS) continue;
        const startedAt = await this.#startOf(endpoint.uuid, deliveryId, attempt);
        if (startedAt > until + IN_FORCE_MS)
          wrong.push(`${deliveryId}#${attempt} started ${startedAt - until} ms late`);
      }
    }
    return { afterAnswer, latestMs, wrong };
  }

  async #startOf(uuid: string, deliveryId: string, attempt: number): Promise<number> {
    const { body } = await this.#merchant.request(
      'GET',
      `/merchant/webhook-endpoints/${uuid}/deliveries/${deliveryId}`,
    );
    const found = body.attempts?.find(({ number }: { number: number }) => number === attempt);
    return found ? Date.parse(found.started_at) : Number.POSITIVE_INFINITY;
  }
}

/** What is asked for in this run: a short form unless MANAGEMENT_ROTATIONS and MANAGEMENT_CREATES say otherwise. */
export const TRIAL_SIZES = {
  rotations: Number(process.env.MANAGEMENT_ROTATIONS ?? 300),
  creates: Number(process.env.MANAGEMENT_CREATES ?? 50),
} as const;

export const TRIAL_MS_MAX = 1_800_000;

export function rotationsText(engine: string, result: RotationsResult): string {
  const { rotations, seconds, requests, afterAnswer, latestMs, wrong } = result;
  return (
    `${engine}: ${rotations} rotations in ${seconds.toFixed(1)} s beside ${requests} requests: ` +
    `${afterAnswer} came with an old secret after the answer, the latest ${latestMs} ms after; ${wrong.length} started over ${IN_FORCE_MS} ms after`
  );
}
