import type { KeyObject } from 'node:crypto';
import { type CustomHeader, parseHeaders } from '../domain/controls/custom-headers.ts';
import type { Endpoint, SealedSecret } from '../domain/endpoint.ts';
import type { SignedWith } from '../domain/task.ts';
import type { KeyRing } from '../keys/keyring.ts';
import { messageOf } from '../messages/error-message.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type OpenedEndpoint, openEndpoint } from './request.ts';

/**
 * Finds the keys of attempts: opens endpoints' secrets, once per version of the endpoint (the directory makes a new object
 * for each), and has the platform's own key where an endpoint asks for its signature.
 */
export class SecretOpener {
  readonly #keyRing: KeyRing;
  readonly #log: Logger;
  /** null: the key is there but does not open the secret, which was logged. */
  readonly #opened = new WeakMap<Endpoint, OpenedEndpoint | null>();
  /** The same of those that sign with their prepared secret. */
  readonly #prepared = new WeakMap<Endpoint, OpenedEndpoint | null>();
  /** Requested keys that are not in the ring. Logged once each, not once per endpoint. */
  readonly #missing = new Set<string>();
  /** Whether it was logged that the platform's own key is missing. */
  #lacksOwn = false;

  constructor(keyRing: KeyRing, log: Logger) {
    this.#keyRing = keyRing;
    this.#log = log;
  }

  /** Returns null when the secret cannot be opened: our own fault, so it costs the delivery no attempt. */
  open(endpoint: Endpoint, signedWith?: SignedWith): OpenedEndpoint | null {
    const all = signedWith === undefined ? this.#opened : this.#prepared;
    const known = all.get(endpoint);
    if (known !== undefined) return known;
    const { secret, prepared, headers } = endpoint;
    const [sealed, other] = signedWith === undefined ? [secret, prepared] : [prepared, secret];
    if (!sealed || !this.#hasKey(sealed.keyId)) return null;
    if (headers && !this.#hasKey(headers.sealed.keyId)) return null;
    const opened = this.#tryOpen(endpoint, sealed, other);
    all.set(endpoint, opened);
    return opened;
  }

  /** Returns the platform's key that signs at a time; null when the ring has none. `at`: by the system's clock. */
  platformKey(environment: string, at: number): KeyObject | null {
    const key = this.#keyRing.signer(environment, at);
    const { file } = this.#keyRing;
    if (!key && !this.#lacksOwn)
      this.#log.error(
        { event: 'signing_key_missing', environment, file },
        'endpoints ask for the signature v1a and the key ring has no signing key for it: their deliveries wait until it has (HOOKRAIL_KEYRING; hookrail operator signing-keys list)',
      );
    if (key && this.#lacksOwn) this.#log.info({ environment, file }, 'the key ring has a signing key now');
    this.#lacksOwn = key === null;
    return key;
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

  #tryOpen(endpoint: Endpoint, sealed: SealedSecret, other: SealedSecret | undefined): OpenedEndpoint | null {
    try {
      const secret = this.#keyRing.open(sealed, endpoint.uuid);
      const others = this.#toMask(endpoint, other);
      return openEndpoint(endpoint, { secret, others, headers: this.#headersOf(endpoint) });
    } catch (error) {
      const why = messageOf(error);
      this.#log.error(
        { endpoint: endpoint.uuid, merchant: endpoint.merchantId, why },
        'the secret or the headers of an endpoint cannot be opened: its deliveries wait until the merchant sets them anew',
      );
      return null;
    }
  }

  #headersOf({ uuid, headers }: Endpoint): CustomHeader[] {
    return headers ? parseHeaders(this.#keyRing.open(headers.sealed, uuid)) : [];
  }

  /** Returns a secret that signs nothing here, and that a response must not show. One that cannot be opened is not needed. */
  #toMask({ uuid }: Endpoint, sealed: SealedSecret | undefined): string[] {
    const secret = sealed && this.#keyRing.tryOpen(sealed, uuid);
    return secret === undefined ? [] : [secret];
  }
}
