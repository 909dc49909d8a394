import { type Directory, type DirectoryChange, directoryKey } from '../domain/directory.ts';
import { type RecordSeals, SEALED_MARK_ID } from '../domain/seals/record-seals.ts';
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
 * Applies to the directory what the stream has, once its seal is checked: each version of a record once. What does not
 * fit its seal is not applied, and the last good state stays in force. A record without a seal is applied until the
 * directory says that all are sealed.
 *
 * ```
 * reading the table ─ sealed ─▶ applied            without a seal ─▶ put aside until everything is read
 * everything is read ─ of what was put aside: older than a sealed one ─▶ dropped;   seals are required ─▶ refused;   else ─▶ applied
 * its key is missing ─▶ held: deliveries wait until the key ring has the key
 * ```
 */
export class CheckedDirectory {
  readonly #deps: CheckedDirectoryDeps;
  /** Records without a seal that were read with the table; null once it was read. */
  #aside: Map<string, DirectoryChange> | null = new Map();
  /** Records whose key is missing. */
  readonly #waiting = new Map<string, DirectoryChange>();
  #cancelLook: (() => void) | null = null;
  /** Called when the directory says that all its records are sealed. */
  onSealed: () => void = () => {};

  constructor(deps: CheckedDirectoryDeps) {
    this.#deps = deps;
  }

  /** Applies a record. Returns false when it is refused, and null when it is not decided yet. */
  readonly apply = (change: DirectoryChange): boolean | null => {
    const { seals, directory } = this.#deps;
    if (change.kind === 'endpoint' && change.id === SEALED_MARK_ID) this.requireSeals();
    const verdict = seals.verdict(change);
    if (verdict === 'valid') return this.#accept(change);
    // The key's own endpoints would be next: the ring is read again, so that this process seals with it, too.
    if (verdict === 'key_missing') return this.#wait(change);
    const mayLackSeal = verdict === 'unsealed' || verdict === 'stale';
    const known = directory.newest(change);
    if (mayLackSeal && this.#aside) {
      const key = directoryKey(change);
      const before = this.#aside.get(key);
      if (!before || before.version < change.version) this.#aside.set(key, change);
      return null;
    }
    if (mayLackSeal && !seals.isRequired) return this.#accept(change);
    // One that is older than what is in force is the past: an earlier build had written it.
    if (mayLackSeal && known && known.version >= change.version) return false;
    return this.#refuse(change);
  };

  /** Decides on what was put aside: the whole table was read. */
  caughtUp(): void {
    const aside = this.#aside;
    this.#aside = null;
    for (const change of aside?.values() ?? []) this.apply(change);
  }

  /** Refuses records without a seal from now on. */
  requireSeals(): void {
    const { seals } = this.#deps;
    if (seals.isRequired) return;
    seals.require();
    this.onSealed();
  }

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

  #refuse(change: DirectoryChange): false {
    const { directory, seals, refused } = this.#deps;
    refused.note('stream', change, seals.verdict(change));
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
