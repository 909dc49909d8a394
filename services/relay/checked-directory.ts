import { type Directory, type DirectoryChange, directoryKey } from '../domain/directory.ts';
import type { RecordSeals, Verdict } from '../domain/seals/record-seals.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { RefusedRecords } from './refused-records.ts';

/** How often the key ring is asked for a key that records wait for. */
const KEY_LOOK_MS = 1000;

export interface CheckedDirectoryDeps {
  readonly directory: Directory;
  readonly seals: RecordSeals;
  readonly refused: RefusedRecords;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Applies to the directory what the stream has, once its seal is checked: each version of a record once. What has no
 * seal, or does not fit it, is not applied, and the last good state stays in force. A record whose key is missing waits
 * until the key ring has the key, and deliveries wait with it.
 */
export class CheckedDirectory {
  readonly #deps: CheckedDirectoryDeps;
  /** Records whose key is missing. */
  readonly #waiting = new Map<string, DirectoryChange>();
  #cancelLook: (() => void) | null = null;

  constructor(deps: CheckedDirectoryDeps) {
    this.#deps = deps;
  }

  /** Applies a record. Returns false when it is refused, and null when it is not decided yet. */
  readonly apply = (change: DirectoryChange): boolean | null => {
    const verdict = this.#deps.seals.verdict(change);
    if (verdict === 'valid') return this.#accept(change);
    // The key's own endpoints would be next: the ring is read again, so that this process seals with it, too.
    if (verdict === 'key_missing') return this.#wait(change);
    return this.#refuse(change, verdict);
  };

  stop(): void {
    this.#cancelLook?.();
  }

  #accept(change: DirectoryChange): true {
    const { directory } = this.#deps;
    const key = directoryKey(change);
    const waiting = this.#waiting.get(key);
    if (waiting && waiting.version <= change.version) this.#waiting.delete(key);
    directory.apply(change);
    return true;
  }

  #refuse(change: DirectoryChange, verdict: Verdict): false {
    const { directory, refused } = this.#deps;
    refused.note('stream', change, verdict);
    if (!directory.newest(change)) directory.hold(change, { needsKey: false });
    return false;
  }

  #wait(change: DirectoryChange): null {
    const { directory, log, clock } = this.#deps;
    const key = directoryKey(change);
    const newest = Math.max(directory.newest(change)?.version ?? 0, this.#waiting.get(key)?.version ?? 0);
    if (change.version <= newest) return null;
    directory.hold(change, { needsKey: true });
    if (this.#waiting.size === 0)
      log.error(
        { key: change.seal?.keyId, record: key },
        'a key that directory records are sealed with is not in the key ring: their deliveries wait until it is put back (HOOKRAIL_KEYRING)',
      );
    this.#waiting.set(key, change);
    this.#cancelLook ??= clock.at(clock.now() + KEY_LOOK_MS, () => this.#look());
    return null;
  }

  #look(): void {
    const { clock } = this.#deps;
    this.#cancelLook = null;
    for (const [key, change] of [...this.#waiting]) {
      if (this.#deps.seals.verdict(change) === 'key_missing') continue;
      this.#waiting.delete(key);
      this.apply(change);
    }
    if (this.#waiting.size > 0) this.#cancelLook = clock.at(clock.now() + KEY_LOOK_MS, () => this.#look());
  }
}
