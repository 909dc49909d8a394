import type { Clock } from '../../process/clock.ts';
import { type Rate, TokenBucket } from '../../process/token-bucket.ts';
import type { Store } from '../../store/store.ts';
import { ApiError } from '../problem.ts';
import { CatchUpPace, STREAM_PAGES } from './catch-up-pace.ts';
import { MerchantTail } from './merchant-tail.ts';
import type { EndReason } from './stream-text.ts';
import { WritePace } from './write-pace.ts';

/** A key is looked up again after this long, once for all its streams. */
const KEY_CHECK_MS = 1000;
const RETRY_AFTER_SECONDS = 5;
/**
 * How often a new stream of a key may end an older one: ten at once, and then ten a minute. Clients that wait as the end
 * asks them to need less; those that come back at once are refused from then on.
 */
const REPLACED: Rate = { perSecond: 1 / 6, burst: 10 };

interface KeyState {
  /** Its streams, the oldest first. */
  readonly places: Set<Place>;
  readonly replaced: TokenBucket;
  checkedAt: number;
  isValid: Promise<boolean>;
}

export interface StreamReader {
  readonly keyId: string;
  /** Looks the key or session up again. */
  readonly isStillValid: () => Promise<boolean>;
  readonly merchantId: string;
  /** The address of the client. */
  readonly address: string;
  /** Fires when the client has left, or has everything: its place is free from then on. */
  readonly gone: AbortSignal;
}

export interface StreamPlace {
  readonly tail: MerchantTail;
  /** Fires when the client has left, or when a newer stream of the key takes the place. */
  readonly ended: AbortSignal;
  /** Whether a newer stream of the key has taken the place. */
  readonly isReplaced: boolean;
  /** Resolves whether the key is still valid, as of at most a second ago. */
  isKeyValid(): Promise<boolean>;
  /** Resolves when the stream may read one more page of what is past. */
  mayRead(signal: AbortSignal): Promise<void>;
}

interface Place {
  readonly address: string;
  replace(): void;
}

export interface OpenStreamsDeps {
  readonly store: Pick<Store, 'feed'>;
  readonly clock: Clock;
  readonly perKeyMax: number;
  readonly perAddressMax: number;
  /** Whether an address is that of a proxy, which stands for many clients. */
  readonly isProxy: (address: string) => boolean;
  readonly max: number;
  /** The feed could not be read: the streams wait. */
  readonly onFailed: (error: unknown) => void;
  readonly onEnded: (keyId: string, reason: EndReason) => void;
  /** A stream was refused, because its address has as many as it may. */
  readonly onAddressFull: (address: string) => void;
}

/** The open streams of this process: how many each key and each address has, and the tails that they share. */
export class OpenStreams {
  readonly #deps: OpenStreamsDeps;
  readonly #keys = new Map<string, KeyState>();
  readonly #addresses = new Map<string, number>();
  readonly #tails = new Map<string, MerchantTail>();
  readonly #writes: WritePace;
  readonly #reads: CatchUpPace;
  #size = 0;

  constructor(deps: OpenStreamsDeps) {
    this.#deps = deps;
    this.#writes = new WritePace(deps.clock);
    this.#reads = new CatchUpPace(deps.clock, STREAM_PAGES);
  }

  /** The number of places that are taken. */
  get size(): number {
    return this.#size;
  }

  /**
   * Takes a place for one more stream; at a key that has as many as it may, that of its oldest one, which ends. Throws the
   * problem that says why there is none. Returns undefined when the client has left already. The place is free as soon as
   * `gone` fires: there is no call to forget.
   */
  open(reader: StreamReader): StreamPlace | undefined {
    if (reader.gone.aborted) return undefined;
    const { clock, perKeyMax } = this.#deps;
    const state = this.#keys.get(reader.keyId) ?? {
      places: new Set(),
      replaced: new TokenBucket(clock, REPLACED),
      checkedAt: clock.now(),
      isValid: Promise.resolve(true),
    };
    const [oldest] = state.places.size >= perKeyMax ? state.places : [];
    this.#refuseFull(reader.address, oldest);
    if (oldest && !state.replaced.take()) throw this.#tooMany(state.replaced.waitMs);
    const place = this.#take(reader, state);
    oldest?.replace();
    return place;
  }

  /** A stream has ended; its connection may still be open. */
  ended(keyId: string, reason: EndReason): void {
    this.#deps.onEnded(keyId, reason);
  }

  #take(reader: StreamReader, state: KeyState): StreamPlace {
    const { keyId, isStillValid, merchantId, address, gone } = reader;
    const tail = this.#tailOf(merchantId);
    const ended = new AbortController();
    let isReplaced = false;
    const free = () => {
      if (!state.places.delete(place)) return;
      gone.removeEventListener('abort', free);
      this.#size -= 1;
      if (state.places.size === 0) this.#keys.delete(keyId);
      this.#countAddress(address, -1);
      this.#leave(merchantId, tail);
      ended.abort();
    };
    const place: Place = {
      address,
      replace: () => {
        isReplaced = true;
        free();
      },
    };
    this.#keys.set(keyId, state);
    state.places.add(place);
    tail.streams += 1;
    this.#size += 1;
    this.#countAddress(address, 1);
    gone.addEventListener('abort', free, { once: true });
    return {
      tail,
      ended: ended.signal,
      get isReplaced() {
        return isReplaced;
      },
      isKeyValid: () => this.#isValid(state, isStillValid),
      mayRead: (signal) => this.#reads.turn(keyId, signal),
    };
  }

  /** `leaving`: the stream that ends for the new one. */
  #refuseFull(address: string, leaving: Place | undefined): void {
    const { max, perAddressMax, isProxy, onAddressFull } = this.#deps;
    const ofAddress = (this.#addresses.get(address) ?? 0) - (leaving?.address === address ? 1 : 0);
    if (ofAddress >= perAddressMax && !isProxy(address)) {
      onAddressFull(address);
      const detail = `Your address has ${perAddressMax} open streams, the most it may.`;
      throw new ApiError('too_many_streams', detail, retryAfter(RETRY_AFTER_SECONDS));
    }
    if (this.#size - (leaving ? 1 : 0) >= max) {
      const detail = 'All streams of this process are taken.';
      throw new ApiError('temporarily_unavailable', detail, retryAfter(RETRY_AFTER_SECONDS));
    }
  }

  #tooMany(waitMs: number): ApiError {
    const detail =
      `This key has ${this.#deps.perKeyMax} open streams, the most it may, ` +
      'and too many of them were ended for newer ones within the last minute.';
    return new ApiError('too_many_streams', detail, retryAfter(Math.max(1, Math.ceil(waitMs / 1000))));
  }

  #tailOf(merchantId: string): MerchantTail {
    const known = this.#tails.get(merchantId);
    if (known) return known;
    const { clock, store, onFailed } = this.#deps;
    const tail = new MerchantTail({ feed: store.feed, merchantId, clock, pace: this.#writes, onFailed });
    this.#tails.set(merchantId, tail);
    return tail;
  }

  #leave(merchantId: string, tail: MerchantTail): void {
    tail.streams -= 1;
    if (tail.streams > 0) return;
    tail.stop();
    this.#tails.delete(merchantId);
  }

  #countAddress(address: string, by: 1 | -1): void {
    const count = (this.#addresses.get(address) ?? 0) + by;
    if (count === 0) this.#addresses.delete(address);
    else this.#addresses.set(address, count);
  }

  #isValid(state: KeyState, isStillValid: () => Promise<boolean>): Promise<boolean> {
    const { clock } = this.#deps;
    if (clock.now() - state.checkedAt < KEY_CHECK_MS) return state.isValid;
    state.checkedAt = clock.now();
    state.isValid = isStillValid();
    return state.isValid;
  }
}

function retryAfter(seconds: number) {
  return { headers: { 'Retry-After': `${seconds}` } };
}
