import type { Endpoint } from '../domain/endpoint.ts';
import type { KeyRing } from '../keys/keyring.ts';
import { messageOf } from '../messages/error-message.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type OpenedEndpoint, openEndpoint } from './request.ts';

/** Opens endpoints' secrets, once per version of the endpoint: the directory makes a new object for each. */
export class SecretOpener {
  readonly #keyRing: KeyRing;
  readonly #log: Logger;
  /** null: the key is there but does not open the secret, which was logged. */
  readonly #opened = new WeakMap<Endpoint, OpenedEndpoint | null>();
  /** Requested keys that are not in the ring. Logged once each, not once per endpoint. */
  readonly #missing = new Set<string>();

  constructor(keyRing: KeyRing, log: Logger) {
    this.#keyRing = keyRing;
    this.#log = log;
  }

  /** Returns null when the secret cannot be opened: our own fault, so it costs the delivery no attempt. */
  open(endpoint: Endpoint): OpenedEndpoint | null {
    const known = this.#opened.get(endpoint);
    if (known !== undefined) return known;
    if (!this.#hasKey(endpoint.secret.keyId)) return null;
    const opened = this.#tryOpen(endpoint);
    this.#opened.set(endpoint, opened);
    return opened;
  }

  /** Looks for the key each time: the ring may get it at any time. */
  #hasKey(keyId: string): boolean {
    const { file } = this.#keyRing;
    if (this.#keyRing.has(keyId)) {
      if (this.#missing.delete(keyId))
        this.#log.info({ key: keyId, file }, 'the missing key is in the key ring again');
      return true;
    }
    if (!this.#missing.has(keyId)) {
      this.#missing.add(keyId);
      this.#log.error(
        { key: keyId, file },
        'a key that endpoints need is not in the key ring: their deliveries wait until it is put back (HOOKRAIL_KEYRING)',
      );
    }
    return false;
  }

  #tryOpen(endpoint: Endpoint): OpenedEndpoint | null {
    try {
      return openEndpoint(endpoint, this.#keyRing.open(endpoint.secret, endpoint.uuid));
    } catch (error) {
      const why = messageOf(error);
      this.#log.error(
        { endpoint: endpoint.uuid, merchant: endpoint.merchantId, why },
        'the secret of an endpoint cannot be opened: its deliveries wait until the merchant rotates it',
      );
      return null;
    }
  }
}
