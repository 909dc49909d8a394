import type { components } from '../../client/generated/merchant-api.ts';

export type StreamAttempt = components['schemas']['StreamAttempt'];

/** The longest time that a line waits for the record of its attempt: usually some milliseconds. */
const WAIT_MS_MAX = 1000;
const KEPT_MAX = 1000;

/** Brings the API's records of attempts to the requests that they are of, whichever comes first. */
export class Attempts {
  readonly #known = new Map<string, StreamAttempt>();
  readonly #waiting = new Map<string, (attempt: StreamAttempt | undefined) => void>();
  #isOpen = false;

  /** While the stream is not open, nothing is waited for. */
  set isOpen(isOpen: boolean) {
    this.#isOpen = isOpen;
    if (!isOpen) for (const give of [...this.#waiting.values()]) give(undefined);
  }

  add(attempt: StreamAttempt): void {
    const key = keyOf(attempt.delivery_uuid, String(attempt.attempt));
    const give = this.#waiting.get(key);
    if (give !== undefined) {
      give(attempt);
      return;
    }
    this.#known.set(key, attempt);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KEPT_MAX && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Resolves with the record of a request's attempt, or with undefined when there is none in time. */
  of(headers: Readonly<Record<string, string>>): Promise<StreamAttempt | undefined> {
    const { 'webhook-delivery-id': delivery, 'webhook-attempt': number } = headers;
    if (delivery === undefined || number === undefined) return Promise.resolve(undefined);
    const key = keyOf(delivery, number);
    const known = this.#known.get(key);
    this.#known.delete(key);
    if (known !== undefined || !this.#isOpen) return Promise.resolve(known);
    return new Promise((resolve) => {
      const give = (attempt: StreamAttempt | undefined) => {
        clearTimeout(timer);
        this.#waiting.delete(key);
        resolve(attempt);
      };
      const timer = setTimeout(() => give(undefined), WAIT_MS_MAX);
      this.#waiting.set(key, give);
    });
  }
}

function keyOf(delivery: string, attempt: string): string {
  return `${delivery}/${attempt}`;
}
