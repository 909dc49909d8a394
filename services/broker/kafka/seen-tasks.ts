/** A pause in the log counts as no more than this, milliseconds: an outage appends nothing, and its copies come after. */
const GAP_MS_MAX = 60_000;

interface Entry {
  readonly key: string;
  readonly offset: number;
  readonly logTime: number;
}

/**
 * Recognises a task that a crash produced twice: a crash after the follow-up is durable and before its cause is
 * acknowledged forks the chain, and the second copy has the same delivery, attempt and hop. Remembers what one partition
 * had within a window before its last record, measured in the log's own append time.
 */
export class SeenTasks {
  readonly #windowMs: number;
  readonly #offsets = new Map<string, number>();
  #entries: Entry[] = [];
  #head = 0;
  #logTime = 0;
  #lastAppended: number | null = null;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** True when another record before this one had the same key. Records must come in the order of their offsets. */
  isCopy(key: string, offset: number, appendedAt: number): boolean {
    if (this.#lastAppended !== null) {
      this.#logTime += Math.min(GAP_MS_MAX, Math.max(0, appendedAt - this.#lastAppended));
    }
    this.#lastAppended = Math.max(appendedAt, this.#lastAppended ?? 0);
    this.#forget();
    const known = this.#offsets.get(key);
    if (known !== undefined) return known !== offset;
    this.#offsets.set(key, offset);
    this.#entries.push({ key, offset, logTime: this.#logTime });
    return false;
  }

  /** The first offset that is remembered: reading must start there to know as much again. */
  get start(): number | undefined {
    return this.#entries[this.#head]?.offset;
  }

  #forget(): void {
    const oldest = this.#logTime - this.#windowMs;
    for (let first = this.#entries[this.#head]; first && first.logTime < oldest; ) {
      this.#offsets.delete(first.key);
      this.#head += 1;
      first = this.#entries[this.#head];
    }
    if (this.#head > 1024 && this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }
}
