import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { STALLS_KEPT_MS, type StallEntry } from '../../../domain/stalls/stall.ts';
import type { Clock } from '../../../process/clock.ts';
import { threadModule } from '../../../process/worker-thread.ts';
import type { StallFollower, StallLog } from '../../stalls.ts';
import { writeStall } from './stall-file-writer.ts';

/**
 * The stalls in a file beside the broker's, a line each. Not in the database: its thread takes requests from the main
 * thread only, which stands still when a stall is written.
 */
export class StallFile implements StallLog {
  readonly writer: StallLog['writer'];
  readonly #file: string;
  readonly #clock: Pick<Clock, 'wall'>;
  readonly #followers = new Set<(entry: StallEntry) => void>();

  constructor(brokerFile: string, clock: Pick<Clock, 'wall'>) {
    this.#file = join(dirname(brokerFile), 'stalls.jsonl');
    this.#clock = clock;
    const module = threadModule(new URL('./stall-file-writer.ts', import.meta.url));
    this.writer = { module, data: this.#file };
  }

  async follow(apply: (entry: StallEntry) => void): Promise<StallFollower> {
    for (const entry of this.#kept()) apply(entry);
    this.#followers.add(apply);
    return { close: async () => void this.#followers.delete(apply) };
  }

  async append(entry: StallEntry): Promise<void> {
    await writeStall(this.#file, entry);
    for (const apply of this.#followers) apply(entry);
  }

  /** Returns the entries that still count, and removes the others from the file. */
  #kept(): readonly StallEntry[] {
    const lines = this.#lines();
    const since = this.#clock.wall() - STALLS_KEPT_MS;
    const kept = lines.flatMap((line) => entryOf(line) ?? []).filter(({ at }) => at >= since);
    if (kept.length < lines.length) {
      const fresh = `${this.#file}.new`;
      writeFileSync(fresh, kept.map((entry) => `${JSON.stringify(entry)}\n`).join(''), {
        mode: 0o600,
        flush: true,
      });
      renameSync(fresh, this.#file);
    }
    return kept;
  }

  #lines(): readonly string[] {
    try {
      return readFileSync(this.#file, 'utf8')
        .split('\n')
        .filter((line) => line !== '');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }
}

/** Returns undefined for a line that a crash cut off. */
function entryOf(line: string): StallEntry | undefined {
  try {
    const entry = JSON.parse(line) as StallEntry;
    return typeof entry?.at === 'number' ? entry : undefined;
  } catch {
    return undefined;
  }
}
