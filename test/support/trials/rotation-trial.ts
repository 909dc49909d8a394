/** Rotations and creates against a running service under load, checked against the receiver's own log. */
import { setTimeout as sleep } from 'node:timers/promises';
import { API_LIMITS } from '../../../services/api/context.ts';
import { eventually } from '../eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../receivers/logging-receiver.ts';
import { jsonEventOf } from '../records/events.ts';
import { MerchantClient } from '../service/merchant-client.ts';
import type { Service, ServiceSetup } from '../service/system.ts';

/** A change is in force after this time: no attempt uses a replaced secret, and new events reach a new endpoint. */
export const IN_FORCE_MS = 1000;
/** The same bound on a slow broker or machine (docs/design.md: the directory). */
const IN_FORCE_MS_EVER = 5000;
/** A broker that takes longer to acknowledge a change is not healthy, and leaves too little of the second. */
const HEALTHY_MS = 500;
/** When this process was stalled this long, the service on the same machine may have been, too. */
const STALL_MS = 100;
const BEAT_MS = 20;
const ENDPOINTS = 10;
const CREATING_AT_ONCE = 20;
/** Prevents waiting forever. */
const ARRIVED_MS_MAX = 60_000;
/** Events published in each step; every endpoint gets every event. */
const EVENTS_PER_STEP = 5;
const STEP_MS = 100;

interface Rotating {
  readonly uuid: string;
  readonly path: string;
  /** In order. `from`: when its rotation was asked for; `until`: when the response of the one that replaced it arrived. */
  readonly secrets: {
    readonly authorization: string;
    readonly from: number;
    until: number;
    answeredInMs: number;
  }[];
}

export interface RotationsResult {
  readonly rotations: number;
  /** Rotations on a healthy broker and machine: their limit is one second, that of the others five. */
  readonly healthy: number;
  readonly seconds: number;
  readonly requests: number;
  /** Requests with an old secret that came after the response of its rotation. */
  readonly afterAnswer: number;
  /** The longest time between that response and such a request, milliseconds. */
  readonly latestMs: number;
  /** Attempts that started over a second after it, on any broker. */
  readonly slow: number;
  /** One line for each attempt that started too late with an old secret, or used an unknown one. */
  readonly wrong: readonly string[];
}

export interface CreatesResult {
  readonly creates: number;
  /** Creates that could not be published to the broker before the response: nothing is promised for them. */
  readonly unhealthy: number;
  /** Paths of the new endpoints that did not get the event. */
  readonly missed: readonly string[];
}

export class RotationTrial {
  readonly #setup: ServiceSetup;
  readonly #merchant: MerchantClient;
  readonly #receiver: LoggingReceiver;
  /** `<path> <event id>` of each received request. */
  readonly #arrived: Set<string>;
  /** Times at which this process found that it had been stalled. */
  readonly #stalls: number[] = [];
  #events = 0;

  private constructor(
    setup: ServiceSetup,
    merchant: MerchantClient,
    receiver: LoggingReceiver,
    arrived: Set<string>,
  ) {
    this.#setup = setup;
    this.#merchant = merchant;
    this.#receiver = receiver;
    this.#arrived = arrived;
  }

  /** Starts the receiver. A third of the attempts at rotating endpoints fail, so that secrets change while retries wait. */
  static async start(setup: ServiceSetup, service: () => Pick<Service, 'apiUrl'>): Promise<RotationTrial> {
    const arrived = new Set<string>();
    let count = 0;
    const receiver = await startLoggingReceiver(setup.receiverCert, async ({ path, eventId }) => {
      arrived.add(`${path} ${eventId}`);
      if (!path.startsWith('/rotating')) return 200;
      count += 1;
      await sleep(count % 20);
      return count % 3 === 0 ? 500 : 200;
    });
    return new RotationTrial(setup, new MerchantClient(setup, service), receiver, arrived);
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }

  /** Rotates the secrets of all endpoints repeatedly and concurrently, while events are delivered to all of them. */
  async rotate(rotations: number): Promise<RotationsResult> {
    const endpoints = await Promise.all(
      Array.from({ length: ENDPOINTS }, async (_, n): Promise<Rotating> => {
        const path = `/rotating/${n}`;
        const made = await this.#merchant.createEndpoint(this.#receiver.url + path);
        const secrets = [
          {
            authorization: `API-Key ${made.signing_secret}`,
            from: 0,
            until: Number.POSITIVE_INFINITY,
            answeredInMs: 0,
          },
        ];
        return { uuid: made.uuid, path, secrets };
      }),
    );
    await sleep(IN_FORCE_MS);
    const over = new AbortController();
    const load = this.#publishUntil(over.signal);
    const startedAt = Date.now();
    let seconds = 0;
    const beat = this.#watchMachine();
    try {
      await Promise.all(endpoints.map((each) => this.#rotateOne(each, Math.ceil(rotations / ENDPOINTS))));
      seconds = (Date.now() - startedAt) / 1000;
      // Attempts in flight may use an old secret, too.
      await sleep(2 * IN_FORCE_MS);
    } finally {
      clearInterval(beat);
      over.abort();
      await load;
    }
    const judged = await this.#judge(endpoints);
    for (const { uuid } of endpoints)
      await this.#merchant.request('DELETE', `/merchant/webhook-endpoints/${uuid}`);
    const requests = this.#receiver.arrivals.length;
    return { rotations: endpoints.length * Math.ceil(rotations / ENDPOINTS), seconds, requests, ...judged };
  }

  /** Creates endpoints, and checks that each gets an event published `IN_FORCE_MS` after the response. */
  async create(creates: number): Promise<CreatesResult> {
    const missed: string[] = [];
    let unhealthy = 0;
    let begun = 0;
    const worker = async () => {
      while (begun < creates) {
        begun += 1;
        const path = `/created/${begun}`;
        const askedAt = Date.now();
        const { uuid } = await this.#merchant.createEndpoint(this.#receiver.url + path);
        // The API waits this long for the broker, then responds anyway: an error would lose the secret.
        const isInForce = Date.now() - askedAt < API_LIMITS.publishedWaitMs;
        if (!isInForce) unhealthy += 1;
        await sleep(IN_FORCE_MS);
        const [eventId] = await this.#publish(1);
        const hasArrived = () => this.#arrived.has(`${path} ${eventId}`);
        if (isInForce)
          await eventually('the event has arrived', hasArrived, ARRIVED_MS_MAX).catch(() =>
            missed.push(path),
          );
        await this.#merchant.request('DELETE', `/merchant/webhook-endpoints/${uuid}`);
      }
    };
    await Promise.all(Array.from({ length: Math.min(CREATING_AT_ONCE, creates) }, worker));
    return { creates, unhealthy, missed };
  }

  async #rotateOne({ uuid, secrets }: Rotating, times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      // Every second one is prepared, and not in force before its rotation is asked for.
      const isPrepared = time % 2 === 1;
      const prepared = isPrepared ? await this.#secretOf('POST', `${uuid}/secret/prepare`) : undefined;
      // The new secret is in use before its response arrives.
      const askedAt = Date.now();
      const body = isPrepared ? { use: 'prepared' } : undefined;
      const rotated = await this.#secretOf('PATCH', `${uuid}/secret`, body);
      if (isPrepared && rotated !== prepared) throw new Error('a rotation put another secret in force');
      const replaced = secrets.at(-1);
      if (replaced) {
        replaced.until = Date.now();
        replaced.answeredInMs = replaced.until - askedAt;
      }
      secrets.push({
        authorization: `API-Key ${rotated}`,
        from: askedAt,
        until: Number.POSITIVE_INFINITY,
        answeredInMs: 0,
      });
    }
  }

  /** Returns the secret of a response. After a 503 it repeats the request to get the same one. */
  async #secretOf(method: 'POST' | 'PATCH', of: string, json?: object): Promise<string> {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    for (;;) {
      const path = `/merchant/webhook-endpoints/${of}`;
      const { status, body } = await this.#merchant.request(method, path, json, headers);
      if (status === 200) return body.signing_secret;
      if (status !== 503) throw new Error(`${method} of a secret returned ${status} ${JSON.stringify(body)}`);
    }
  }

  #watchMachine(): NodeJS.Timeout {
    let last = Date.now();
    return setInterval(() => {
      const now = Date.now();
      if (now - last > BEAT_MS + STALL_MS) this.#stalls.push(now);
      last = now;
    }, BEAT_MS);
  }

  /** Returns how long after its replacement a secret may still be used, milliseconds. */
  #allowedMs({ until, answeredInMs }: Rotating['secrets'][number]): number {
    const isStalled = this.#stalls.some(
      (at) => at > until - HEALTHY_MS && at < until + IN_FORCE_MS + STALL_MS,
    );
    return answeredInMs < HEALTHY_MS && !isStalled ? IN_FORCE_MS : IN_FORCE_MS_EVER;
  }

  async #publishUntil(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await this.#publish(EVENTS_PER_STEP);
      await sleep(STEP_MS);
    }
  }

  async #publish(count: number): Promise<string[]> {
    const { merchantId, dataDir } = this.#setup;
    const events = Array.from({ length: count }, () =>
      jsonEventOf(merchantId, `${dataDir} ${this.#events++}`),
    );
    const answer = await this.#merchant.publish(events);
    if (answer.status !== 202) throw new Error(`publishing returned ${answer.status}`);
    return events.map(({ header }) => header.eventId);
  }

  async #judge(
    endpoints: readonly Rotating[],
  ): Promise<Pick<RotationsResult, 'healthy' | 'afterAnswer' | 'latestMs' | 'slow' | 'wrong'>> {
    const byPath = new Map(endpoints.map((each) => [each.path, each]));
    const secretOf = new Map(
      endpoints.flatMap(({ path, secrets }) =>
        secrets.map((secret) => [`${path} ${secret.authorization}`, secret] as const),
      ),
    );
    const healthy = [...secretOf.values()].filter(
      (secret) => Number.isFinite(secret.until) && this.#allowedMs(secret) === IN_FORCE_MS,
    ).length;
    const wrong: string[] = [];
    let afterAnswer = 0;
    let slow = 0;
    let latestMs = 0;
    for (const { path, authorization, at, deliveryId, attempt } of this.#receiver.arrivals) {
      const endpoint = byPath.get(path);
      if (!endpoint) continue;
      const secret = secretOf.get(`${path} ${authorization}`);
      if (secret === undefined)
        wrong.push(`${path}#${attempt} came with a secret that the endpoint never had`);
      else if (at < secret.from) wrong.push(`${path}#${attempt} came with a secret that was only prepared`);
      else if (at > secret.until) {
        const { until } = secret;
        afterAnswer += 1;
        latestMs = Math.max(latestMs, at - until);
        // A request arrives later than its attempt started; only the start counts.
        if (at <= until + IN_FORCE_MS) continue;
        const lateMs = (await this.#startOf(endpoint.uuid, deliveryId, attempt)) - until;
        if (lateMs > IN_FORCE_MS) slow += 1;
        if (lateMs > this.#allowedMs(secret))
          wrong.push(`${deliveryId}#${attempt} started ${lateMs} ms late`);
      }
    }
    return { healthy, afterAnswer, latestMs, slow, wrong };
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
