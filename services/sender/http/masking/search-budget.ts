import type { SearchAllowance } from './secret-search.ts';

/**
 * The most that one response may take, bytes read: a page of 17 KB takes about 80,000, one that was made to be costly
 * would take ten times as much.
 */
export const RESPONSE_BYTES_MAX = 512 * 1024;
/** Bytes read each second of the responses of one merchant, and of all together, at most: some percent of a core. */
const MERCHANT_BYTES_PER_SECOND = 4 * 1024 * 1024;
const TOTAL_BYTES_PER_SECOND = 16 * 1024 * 1024;
/** The unused part of the last seconds may be used at once. */
const SECONDS_SAVED = 4;
/** Merchants whose responses were searched last. One that is forgotten has all of its share again. */
const MERCHANTS_MAX = 4096;

/** Limits how much of the responses is searched for secrets, so that no merchant's responses take the others' time. */
export class SearchBudget {
  readonly #now: () => number;
  readonly #total: Share;
  readonly #merchants = new Map<string, Share>();

  /** `now`: monotonic, milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
    this.#total = new Share(TOTAL_BYTES_PER_SECOND, now());
  }

  /** Returns what the search of one response may take. */
  allowanceOf(merchantId: string): SearchAllowance {
    const merchant = this.#shareOf(merchantId);
    let left = RESPONSE_BYTES_MAX;
    return {
      take: (bytes) => {
        left -= bytes;
        return left >= 0 && merchant.take(bytes, this.#now()) && this.#total.take(bytes, this.#now());
      },
    };
  }

  #shareOf(merchantId: string): Share {
    let share = this.#merchants.get(merchantId);
    if (share) this.#merchants.delete(merchantId);
    share ??= new Share(MERCHANT_BYTES_PER_SECOND, this.#now());
    this.#merchants.set(merchantId, share);
    if (this.#merchants.size > MERCHANTS_MAX) {
      for (const first of this.#merchants.keys()) {
        this.#merchants.delete(first);
        break;
      }
    }
    return share;
  }
}

/** A token bucket. */
class Share {
  readonly #perMs: number;
  readonly #max: number;
  #left: number;
  #at: number;

  constructor(perSecond: number, now: number) {
    this.#perMs = perSecond / 1000;
    this.#max = perSecond * SECONDS_SAVED;
    this.#left = this.#max;
    this.#at = now;
  }

  take(bytes: number, now: number): boolean {
    this.#left = Math.min(this.#max, this.#left + (now - this.#at) * this.#perMs);
    this.#at = now;
    if (this.#left < bytes) return false;
    this.#left -= bytes;
    return true;
  }
}
