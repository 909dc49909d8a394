import { visible } from '../../../services/domain/text/visible-text.ts';
import type { MerchantApi } from '../../client/merchant-api.ts';
import { CommandFailure } from '../../exit.ts';

/** A receiver that answers does so sooner: before that nobody asks what the clock waits for. */
const SLOW_MS = 3000;
const EVERY_MS = 2000;
/** The most deliveries of one status that are looked at. */
const LOOKED_AT_MAX = 100;
const NAMED_MAX = 3;

interface Endpoint {
  readonly uuid: string;
  readonly name: string;
}

/** Tells to which endpoints attempts are under way while the clock waits for them. */
export class UnderWay {
  readonly #api: () => MerchantApi;
  #endpoints: readonly Endpoint[] = [];

  constructor(api: () => MerchantApi) {
    this.#api = api;
  }

  /** For the line that shows the wait; empty while nothing takes long. */
  get says(): string {
    const names = this.#endpoints.map(({ name }) => name);
    const others = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} others` : '';
    return names.length === 0 ? '' : `; waiting for ${names.slice(0, NAMED_MAX).join(', ')}${others}`;
  }

  /** Waits for a step of the clock. A failure of it names the endpoints that did not answer. */
  async during<Result>(step: Promise<Result>): Promise<Result> {
    const look = () => this.#look().catch(() => {});
    let repeats: NodeJS.Timeout | undefined;
    const first = setTimeout(() => {
      void look();
      repeats = setInterval(look, EVERY_MS);
    }, SLOW_MS);
    try {
      return await step;
    } catch (error) {
      await look();
      if (!(error instanceof CommandFailure) || this.#endpoints.length === 0) throw error;
      const commands = this.#endpoints.map(({ uuid }) => `hookrail sim endpoints get ${uuid}`);
      throw new CommandFailure(error.exitCode, `${error.message}${this.says}`, [
        ...commands.slice(0, NAMED_MAX),
        ...error.next,
      ]);
    } finally {
      clearTimeout(first);
      clearInterval(repeats);
      this.#endpoints = [];
    }
  }

  async #look(): Promise<void> {
    const api = this.#api();
    const now = await api.now();
    const lists = (['pending', 'failed'] as const).map((status) =>
      api.deliveries({ status, limit: LOOKED_AT_MAX }),
    );
    const due = (await Promise.all(lists))
      .flat()
      .filter(({ next_attempt_at: next }) => next === null || Date.parse(next) <= now);
    const uuids = new Set(due.map(({ endpoint_uuid }) => endpoint_uuid));
    if (uuids.size === 0) {
      this.#endpoints = [];
      return;
    }
    const endpoints = await api.endpoints();
    this.#endpoints = endpoints
      .filter(({ uuid }) => uuids.has(uuid))
      .map(({ uuid, description, url }) => ({ uuid, name: visible(description || url) }));
  }
}
