/**
 * Brings about causes of operational notices at a service that is killed meanwhile. When the api shows that a cause has
 * happened, the line of its notice is written down (told.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { deliveryId } from '../../../../services/domain/ids.ts';
import { eventually } from '../../eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../../receivers/logging-receiver.ts';
import { jsonEventOf } from '../../records/events.ts';
import { inForce } from '../../service/in-force.ts';
import { type Answer, MerchantClient } from '../../service/merchant-client.ts';
import type { Service, ServiceSetup } from '../../service/system.ts';

/** The longest wait for something that a killed service does once it runs again. */
export const HAPPENS_MS_MAX = 120_000;
/** The answer of the operational endpoints comes after this time at most, so that a kill finds requests in flight. */
const ANSWER_MS_MAX = 150;

export interface Watched {
  readonly uuid: string;
  /** At the receiver. */
  readonly path: string;
}

export interface CausesOptions {
  readonly setup: ServiceSetup;
  readonly service: () => Pick<Service, 'apiUrl'>;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
}

export class Causes {
  readonly merchant: MerchantClient;
  readonly receiver: LoggingReceiver;
  /** The line of each expected notice, but for those that gather several causes. */
  readonly lines: string[] = [];
  readonly #setup: ServiceSetup;
  readonly #answers: Map<string, number>;
  #published = 0;

  private constructor(
    { setup, service }: CausesOptions,
    receiver: LoggingReceiver,
    answers: Map<string, number>,
  ) {
    this.#setup = setup;
    this.#answers = answers;
    this.receiver = receiver;
    this.merchant = new MerchantClient(setup, service);
  }

  /** Starts the receiver. Every second webhook to an operational endpoint fails in its first attempt. */
  static async start(options: CausesOptions): Promise<Causes> {
    const answers = new Map<string, number>();
    const receiver = await startLoggingReceiver(
      options.setup.receiverCert,
      async ({ path, eventId, attempt }) => {
        if (!path.startsWith('/ops')) return answers.get(path) ?? 200;
        await sleep(options.random() * ANSWER_MS_MAX);
        return attempt === 1 && Number.parseInt(eventId.slice(0, 1), 16) % 2 === 0 ? 500 : 200;
      },
    );
    return new Causes(options, receiver, answers);
  }

  async endpoint(name: string, extra: object = {}): Promise<Watched> {
    const path = `/${name}`;
    const { uuid } = await this.merchant.createEndpoint(this.receiver.url + path, extra);
    return { uuid, path };
  }

  /** Rotates a secret. Where a kill cuts the request off, the endpoint shows whether it has another one. */
  async rotate({ uuid, path }: Watched): Promise<void> {
    const hint = async () => (await this.#acknowledged('GET', resourceOf(uuid))).body.secret_hint;
    const before = await hint();
    const answer = await this.merchant.request('PATCH', `${resourceOf(uuid)}/secret`).catch(() => null);
    const after = answer?.status === 200 ? answer.body.secret_hint : await hint();
    if (after !== before) this.lines.push(`secret.rotated ROTATED ${path} ${after}`);
  }

  /** Has an endpoint answer that it is gone, and enables it again. */
  async switchOff(endpoint: Watched): Promise<void> {
    this.#answers.set(endpoint.path, 410);
    await this.publish();
    await this.#disabled(endpoint, 'GONE');
    await this.#enable(endpoint);
  }

  /**
   * Has two endpoints fail for a day of the service's clock: one recovers in the middle, the other is disabled.
   * `moveOn`: moves the clock by so many hours since the beginning.
   */
  async fail(dips: Watched, ends: Watched, moveOn: (hours: number) => Promise<void>): Promise<void> {
    // From here on neither has a success.
    for (const { path } of [dips, ends]) this.#answers.set(path, 503);
    const first = await this.publish();
    for (const each of [dips, ends])
      await this.#recorded(each, first, ({ status }) => status === 'exhausted');
    await this.#failingAt(12.5, 'AT_50', [dips, ends], moveOn);
    this.#answers.delete(dips.path);
    const good = await this.publish();
    await this.#recorded(dips, good, ({ status }) => status === 'delivered');
    this.lines.push(`endpoint.recovered AFTER_FAILING ${dips.path}`);
    await this.#failingAt(18.5, 'AT_75', [ends], moveOn);
    await this.#failingAt(21.8, 'AT_90', [ends], moveOn);
    await moveOn(24.3);
    await this.publish();
    await this.#disabled(ends, 'CONSECUTIVE_FAILURES');
    await this.#enable(ends);
  }

  async #failingAt(
    hours: number,
    subType: string,
    failing: readonly Watched[],
    moveOn: (hours: number) => Promise<void>,
  ): Promise<void> {
    await moveOn(hours);
    const event = await this.publish();
    for (const each of failing) {
      await this.#recorded(each, event, ({ attempts }) => attempts.length > 0);
      this.lines.push(`endpoint.failing ${subType} ${each.path}`);
    }
  }

  async #disabled({ uuid, path }: Watched, subType: string): Promise<void> {
    await eventually(
      `${path} is disabled`,
      async () => (await this.#acknowledged('GET', resourceOf(uuid))).body.status === 'auto_disabled',
      HAPPENS_MS_MAX,
    );
    this.lines.push(`endpoint.disabled ${subType} ${path}`);
  }

  /** Enables an endpoint that was disabled, and waits for its first success. */
  async #enable(endpoint: Watched): Promise<void> {
    this.#answers.delete(endpoint.path);
    await this.#acknowledged('PATCH', resourceOf(endpoint.uuid), { status: 'active' });
    await inForce();
    const event = await this.publish();
    await this.#recorded(endpoint, event, ({ status }) => status === 'delivered');
    this.lines.push(`endpoint.recovered AFTER_DISABLED ${endpoint.path}`);
  }

  /** Publishes an event to all endpoints, until it is acknowledged. Returns its id. */
  async publish(): Promise<string> {
    this.#published += 1;
    const event = jsonEventOf(this.#setup.merchantId, `${this.#setup.dataDir} ${this.#published}`);
    await eventually(
      'the event is acknowledged',
      async () => (await this.merchant.publish([event]).catch(() => null))?.status === 202,
      HAPPENS_MS_MAX,
    );
    return event.header.eventId;
  }

  /** Waits until the delivery log has what is asked for of an event's delivery: what follows from it is recorded with it. */
  async #recorded(
    { uuid, path }: Watched,
    eventId: string,
    isThere: (delivery: { readonly status: string; readonly attempts: readonly unknown[] }) => boolean,
  ): Promise<void> {
    const at = `${resourceOf(uuid)}/deliveries/${deliveryId(eventId, uuid)}`;
    await eventually(
      `the delivery of ${eventId} to ${path} is recorded`,
      async () => {
        const answer = await this.merchant.request('GET', at).catch(() => null);
        return answer?.status === 200 && isThere(answer.body);
      },
      HAPPENS_MS_MAX,
    );
  }

  /** Asks until the service acknowledges it: it may be killed meanwhile, or have no store for a moment. */
  #acknowledged(method: string, path: string, body?: object): Promise<Answer> {
    const ask = async () => {
      const answer = await this.merchant.request(method, path, body).catch(() => null);
      if (answer === null || answer.status === 503) return null;
      if (answer.status === 200) return answer;
      throw new Error(`${method} ${path} returned ${answer.status} ${JSON.stringify(answer.body)}`);
    };
    return eventually(`${method} ${path} is acknowledged`, ask, HAPPENS_MS_MAX);
  }
}

const resourceOf = (uuid: string) => `/merchant/webhook-endpoints/${uuid}`;
