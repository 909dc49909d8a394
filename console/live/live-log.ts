import type { LiveRow, Unordered } from './live-row.ts';

/** The most rows that are kept: older ones are in the lists of the API. */
const ROWS_MAX = 3000;
/** News is shown in steps, so that a burst does not keep the page busy. */
const SHOWN_AFTER_MS = 100;

/** The rows of Live, newest first. A row keeps its place when its result changes. */
export class LiveLog {
  readonly #rows = new Map<string, LiveRow>();
  readonly #watchers = new Set<() => void>();
  #shown: readonly LiveRow[] = [];
  #order = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Takes news of a row. A late `routed` does not undo a result. */
  take(row: Unordered): void {
    const known = this.#rows.get(row.key);
    if (known === undefined) {
      this.#order += 1;
      this.#rows.set(row.key, { ...row, order: this.#order });
      for (const oldest of this.#rows.keys()) {
        if (this.#rows.size <= ROWS_MAX) break;
        this.#rows.delete(oldest);
      }
    } else if (!isOlder(row, known)) this.#rows.set(row.key, { ...known, result: row.result });
    this.#timer ??= setTimeout(() => this.#show(), SHOWN_AFTER_MS);
  }

  /** Takes what happened before, in any order. */
  takePast(rows: readonly Unordered[]): void {
    for (const row of [...rows].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))) this.take(row);
    this.#show();
  }

  readonly rows = (): readonly LiveRow[] => this.#shown;

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  #show(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#shown = [...this.#rows.values()].reverse();
    for (const watcher of this.#watchers) watcher();
  }
}

/** Returns whether news tells less than what is known already. */
function isOlder({ result }: Unordered, { result: known }: LiveRow): boolean {
  if (result.kind === 'pending') return known.kind !== 'pending';
  return result.kind === 'tried' && known.kind === 'tried' && result.attempt < known.attempt;
}
