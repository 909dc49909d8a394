import { ApiRefusal } from '../client/api-refusal.ts';
import type { MerchantApi } from '../client/merchant-api.ts';
import type { Arrival } from '../receiver/receiver.ts';
import { type Observed, type Outcome, outcomeOf, skippedAt } from '../scenario/expectations.ts';
import type { PlannedStep } from '../scenario/plan.ts';
import type { Staged } from './staged-endpoint.ts';

const OVER = ['delivered', 'exhausted', 'refused', 'cancelled', 'skipped'];

/**
 * Collects what the API and the receivers of a run know of its events. A finished event is asked for once: the API limits
 * the requests of a key.
 */
export class Evidence {
  readonly #api: MerchantApi;
  readonly #endpoints: readonly Staged[];
  readonly #sentAt = new Map<string, number>();
  readonly #over = new Map<string, Outcome>();

  constructor(api: MerchantApi, endpoints: readonly Staged[]) {
    this.#api = api;
    this.#endpoints = endpoints;
  }

  /** Notes that a step was sent. */
  sent(step: string, at: number): void {
    this.#sentAt.set(step, at);
  }

  /** Returns the requests with an event that the receiver of an endpoint took or failed, not those that it refused. */
  arrivals({ receiver }: Staged, { event }: PlannedStep): readonly Arrival[] {
    return receiver.arrivals.filter(
      ({ headers, answered }) => headers['webhook-id'] === event.eventId && answered !== 'refused',
    );
  }

  /** Asks what became of a step at the endpoints of the run; undefined when it was not sent. */
  async observe(step: PlannedStep): Promise<Observed | undefined> {
    const sentAt = this.#sentAt.get(step.id);
    if (sentAt === undefined) return undefined;
    const known = this.#endpoints.map((endpoint) => this.#over.get(keyOf(endpoint, step)));
    if (known.every((outcome) => outcome !== undefined)) {
      return this.#observed(step, sentAt, known as Outcome[]);
    }
    const event = await unless404(this.#api.event(step.event.eventId));
    if (event === undefined) return { sentAt, routed: false, outcomes: [] };
    const outcomes: Outcome[] = [];
    for (const [i, endpoint] of this.#endpoints.entries()) {
      const outcome =
        known[i] ?? (await this.#outcome(endpoint, event.endpoints.find(isAt(endpoint.uuid)), step));
      if (OVER.includes(outcome.status)) this.#over.set(keyOf(endpoint, step), outcome);
      outcomes.push(outcome);
    }
    return this.#observed(step, sentAt, outcomes);
  }

  async #outcome(endpoint: Staged, traced: Traced | undefined, step: PlannedStep): Promise<Outcome> {
    if (traced === undefined) return skippedAt(endpoint.name, 'endpoint_not_there');
    const { delivery_uuid: delivery, status, verdict } = traced;
    if (delivery === null) return skippedAt(endpoint.name, verdict);
    // The log of a deleted endpoint is gone; the routing trace still has the status.
    const detail = endpoint.isDeleted
      ? undefined
      : await unless404(this.#api.delivery(endpoint.uuid, delivery));
    if (detail !== undefined) return outcomeOf(endpoint.name, detail);
    const attempts = this.arrivals(endpoint, step);
    return {
      ...skippedAt(endpoint.name, ''),
      status: (status ?? 'pending') as Outcome['status'],
      reasons: status === 'cancelled' && endpoint.isDeleted ? ['endpoint_deleted'] : [],
      attempts: attempts.length,
    };
  }

  /** Adds what the receivers know: they get requests, such as resends, that are no attempts of the delivery. */
  #observed(step: PlannedStep, sentAt: number, outcomes: readonly Outcome[]): Observed {
    const seen = outcomes.map((outcome) => {
      const endpoint = this.#endpoints.find(({ name }) => name === outcome.endpoint);
      const arrivals = endpoint === undefined ? [] : this.arrivals(endpoint, step);
      const body = arrivals.at(-1)?.body.toString('utf8') ?? outcome.body;
      return { ...outcome, body, requests: arrivals.length };
    });
    return { sentAt, routed: true, outcomes: seen };
  }
}

type Traced = Awaited<ReturnType<MerchantApi['event']>>['endpoints'][number];

const isAt = (uuid: string) => (traced: Traced) => traced.endpoint_uuid === uuid;

function keyOf({ name }: Staged, { id }: PlannedStep): string {
  return `${name} ${id}`;
}

/** Resolves with undefined while something is not there yet: accepted does not mean recorded. */
async function unless404<Value>(answer: Promise<Value>): Promise<Value | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiRefusal && (error.status === 404 || error.status === 503)) return undefined;
    throw error;
  }
}
