import type { Endpoint } from '../domain/endpoint.ts';
import type { KeyRing } from '../runtime/keyring.ts';
import type { Logger } from '../runtime/logger.ts';
import { type OpenedEndpoint, openEndpoint } from './request.ts';

/** Opens endpoints' secrets, once per version of the endpoint: the directory makes a new object for each. */
export class SecretOpener {
  readonly #keyRing: KeyRing;
  readonly #log: Logger;
  /** null: it could not be opened, which was said. */
  readonly #opened = new WeakMap<Endpoint, OpenedEndpoint | null>();

  constructor(keyRing: KeyRing, log: Logger) {
    this.#keyRing = keyRing;
    this.#log = log;
  }

  /** Null when the secret cannot be opened: our fault, so it costs the delivery no attempt. */
  open(endpoint: Endpoint): OpenedEndpoint | null {
    const known = this.#opened.get(endpoint);
    if (known !== undefined) return known;
    const opened = this.#tryOpen(endpoint);
    this.#opened.set(endpoint, opened);
    return opened;
  }

  #tryOpen(endpoint: Endpoint): OpenedEndpoint | null {
    try {
      return openEndpoint(endpoint, this.#keyRing.open(endpoint.secret, endpoint.uuid));
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown error';
      this.#log.error(
        { endpoint: endpoint.uuid, merchant: endpoint.merchantId, why },
        'the secret of an endpoint cannot be opened: its deliveries wait until the key is back and we are restarted',
      );
      return null;
    }
  }
}
