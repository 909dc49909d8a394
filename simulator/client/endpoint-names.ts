import type { EndpointAnswer, MerchantApi } from './merchant-api.ts';

/** An endpoint as people and scripts recognise it. */
export interface EndpointName {
  readonly uuid: string;
  /** Null when it is unknown: the endpoint is deleted. */
  readonly description: string | null;
  readonly url: string | null;
  /** The API version that its webhooks are written in. */
  readonly apiVersion: string | null;
  /** The shortest name: its description if no other endpoint has it, else its URL; 8 digits of its uuid once it is deleted. */
  readonly label: string;
  /** The merchant has no other endpoint, so that nothing needs to be told apart. */
  readonly isOnly: boolean;
}

type Known = Pick<EndpointAnswer, 'uuid' | 'description' | 'url' | 'api_version'>;

/** The description of endpoints that nobody described. */
export const UNDESCRIBED = 'created with sim endpoints create';
const LEGACY = 'legacy webhook';

/** The names of the merchant's endpoints. */
export class EndpointNames {
  readonly #api: Pick<MerchantApi, 'endpoints' | 'legacyEndpoint'>;
  readonly #known = new Map<string, Known>();
  /** Asked for, and not there: deleted. */
  readonly #unknown = new Set<string>();

  constructor(api: Pick<MerchantApi, 'endpoints' | 'legacyEndpoint'>) {
    this.#api = api;
  }

  /** Reads all endpoints again. */
  async load(): Promise<void> {
    const endpoints = await this.#api.endpoints();
    this.#unknown.clear();
    for (const endpoint of endpoints) this.#known.set(endpoint.uuid, endpoint);
  }

  /** Makes sure that `of` knows an endpoint, which may be new or the legacy webhook; two requests at most. */
  async learn(uuid: string): Promise<void> {
    if (this.#known.has(uuid) || this.#unknown.has(uuid)) return;
    await this.load();
    if (this.#known.has(uuid)) return;
    const legacy = await this.#api.legacyEndpoint();
    if (legacy !== undefined) this.#known.set(legacy.uuid, { ...legacy, description: LEGACY });
    if (!this.#known.has(uuid)) this.#unknown.add(uuid);
  }

  of(uuid: string): EndpointName {
    const isOnly = this.#known.size <= 1;
    const known = this.#known.get(uuid);
    if (known === undefined) {
      return {
        uuid,
        description: null,
        url: null,
        apiVersion: null,
        label: `${uuid.slice(0, 8)} (deleted)`,
        isOnly: false,
      };
    }
    const { description, url, api_version: apiVersion } = known;
    return { uuid, description, url, apiVersion, label: this.#labelOf(known), isOnly };
  }

  #labelOf({ description, url }: Known): string {
    const same = [...this.#known.values()].filter((other) => other.description === description);
    const isTelling = description.trim() !== '' && description !== UNDESCRIBED && same.length === 1;
    return isTelling ? description : url.replace(/^https:\/\//, '').replace(/\/$/, '');
  }
}

/** Returns what items of `ndjson` say of an endpoint. */
export function endpointJson({ uuid, description, url }: EndpointName) {
  return { uuid, description, url };
}
