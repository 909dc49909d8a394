/**
 * The present work of the main thread, in memory that the watchdog's thread can read while the main thread stands still.
 * A label is `<kind> <name>=<value> …`: ids and places only, never a secret or personal data, and no value has a space.
 */
export interface Activity {
  /** Runs synchronous work under a label. Work may be nested: afterwards the outer label is in force again. */
  within<Result>(label: string, work: () => Result): Result;
  /** Begins work under a label; returns what ends it, in the same turn of the event loop. */
  enter(label: string): () => void;
}

/** Labels nothing, where no watchdog runs. */
export const NOT_WATCHED: Activity = { within: (_label, work) => work(), enter: () => () => {} };

const HEARTBEAT = 0;
/** Grows whenever labelled work begins or ends. */
const SECTION = 1;
const IS_INSIDE = 2;
const LENGTH = 3;
const TEXT_AT = 16;
const TEXT_BYTES_MAX = 1024;

/** The main thread's side. */
export class SharedActivity implements Activity {
  readonly shared = new SharedArrayBuffer(TEXT_AT + TEXT_BYTES_MAX);
  readonly #numbers = new Int32Array(this.shared, 0, LENGTH + 1);
  readonly #text = Buffer.from(this.shared, TEXT_AT);
  #label: string | null = null;

  within<Result>(label: string, work: () => Result): Result {
    const outer = this.#label;
    this.#begin(label);
    try {
      return work();
    } finally {
      this.#backTo(outer);
    }
  }

  enter(label: string): () => void {
    const outer = this.#label;
    this.#begin(label);
    return () => this.#backTo(outer);
  }

  /** Shows that the event loop runs. */
  beat(): void {
    Atomics.add(this.#numbers, HEARTBEAT, 1);
  }

  #begin(label: string): void {
    if (label !== this.#label) {
      this.#label = label;
      this.#numbers[LENGTH] = this.#text.write(label, 'latin1');
      this.#numbers[IS_INSIDE] = 1;
    }
    Atomics.add(this.#numbers, SECTION, 1);
  }

  #backTo(outer: string | null): void {
    if (outer !== null) {
      this.#begin(outer);
      return;
    }
    this.#label = null;
    this.#numbers[IS_INSIDE] = 0;
    Atomics.add(this.#numbers, SECTION, 1);
  }
}

/** A look at the main thread. */
export interface Glance {
  readonly heartbeat: number;
  readonly section: number;
  /** The label in force; null = none. */
  readonly label: string | null;
  /** The label in force, or the last one that was; null = there was none yet. */
  readonly lastLabel: string | null;
}

/** Reads what a SharedActivity holds, from another thread. Exact while the main thread stands still. */
export function glanceAt(shared: SharedArrayBuffer): Glance {
  const numbers = new Int32Array(shared, 0, LENGTH + 1);
  const [heartbeat, section] = [Atomics.load(numbers, HEARTBEAT), Atomics.load(numbers, SECTION)];
  const length = Atomics.load(numbers, LENGTH);
  const text = Buffer.from(shared, TEXT_AT).toString('latin1', 0, length);
  const lastLabel = length === 0 ? null : text;
  return { heartbeat, section, label: Atomics.load(numbers, IS_INSIDE) === 1 ? lastLabel : null, lastLabel };
}

/** A label taken apart. */
export interface LabelParts {
  readonly kind: string;
  readonly fields: Readonly<Record<string, string>>;
}

export function partsOf(label: string): LabelParts {
  const [kind = '', ...pairs] = label.split(' ');
  const fields = pairs.map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  return { kind, fields: Object.fromEntries(fields.filter(([name]) => name !== '')) };
}
