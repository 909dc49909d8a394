import type { Clock } from '../../process/clock.ts';
import type { ApiKey, Store } from '../../store/store.ts';
import { ApiError } from '../problem.ts';
import { MerchantTail } from './merchant-tail.ts';
import type { EndReason } from './stream-text.ts';
import { WritePace } from './write-pace.ts';

/** A key is looked up again after this long, once for all its streams. */
const KEY_CHECK_MS = 1000;
const RETRY_AFTER_SECONDS = '5';

interface KeyState {
  open: number;
  checkedAt: number;
  isValid: Promise<boolean>;
}

export interface StreamPlace {
  readonly tail: MerchantTail;
  /** Resolves whether the key is still valid, as of at most a second ago. */
  isKeyValid(): Promise<boolean>;
  close(): void;
}

export interface OpenStreamsDeps {
  readonly store: Pick<Store, 'feed' | 'keys'>;
  readonly clock: Clock;
  readonly perKeyMax: number;
  readonly max: number;
  /** The feed could not be read: the streams wait. */
  readonly onFailed: (error: unknown) => void;
  readonly onEnded: (keyId: string, reason: EndReason) => void;
}

/** The open streams of this process: how many each key has, and the tails that they share. */
export class OpenStreams {
  readonly #deps: OpenStreamsDeps;
  readonly #keys = new Map<string, KeyState>();
  readonly #tails = new Map<string, MerchantTail>();
  readonly #pace: WritePace;
  #open = 0;

  constructor(deps: OpenStreamsDeps) {
    this.#deps = deps;
    this.#pace = new WritePace(deps.clock);
  }

  /** Takes a place for one more stream, or throws the problem that says why there is none. */
  open(key: { readonly keyId: string; readonly hash: Uint8Array }, merchantId: string): StreamPlace {
    const { perKeyMax, max, clock, store, onFailed } = this.#deps;
    const headers = { 'Retry-After': RETRY_AFTER_SECONDS };
    const state = this.#keys.get(key.keyId) ?? {
      open: 0,
      checkedAt: clock.now(),
      isValid: Promise.resolve(true),
    };
    if (state.open >= perKeyMax) {
      throw new ApiError('too_many_streams', `This key has ${perKeyMax} open streams, the most it may.`, {
        headers,
      });
    }
    if (this.#open >= max)
      throw new ApiError('temporarily_unavailable', 'All streams of this process are taken.', { headers });
    const tail =
      this.#tails.get(merchantId) ??
      new MerchantTail({ feed: store.feed, merchantId, clock, pace: this.#pace, onFailed });
    this.#keys.set(key.keyId, state);
    this.#tails.set(merchantId, tail);
    state.open += 1;
    tail.streams += 1;
    this.#open += 1;
    return {
      tail,
      isKeyValid: () => this.#isValid(state, key.hash),
      close: () => {
        this.#open -= 1;
        state.open -= 1;
        if (state.open === 0) this.#keys.delete(key.keyId);
        tail.streams -= 1;
        if (tail.streams > 0) return;
        tail.stop();
        this.#tails.delete(merchantId);
      },
    };
  }

  /** A stream has ended; its connection may still be open. */
  ended(keyId: string, reason: EndReason): void {
    this.#deps.onEnded(keyId, reason);
  }

  #isValid(state: KeyState, hash: Uint8Array): Promise<boolean> {
    const { clock, store } = this.#deps;
    if (clock.now() - state.checkedAt < KEY_CHECK_MS) return state.isValid;
    state.checkedAt = clock.now();
    state.isValid = store.keys.findByHash(hash).then((key: ApiKey | undefined) => key?.revokedAt === null);
    return state.isValid;
  }
}
