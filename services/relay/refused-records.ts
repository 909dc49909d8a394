import { Counter, type Registry } from 'prom-client';
import { type DirectoryChange, directoryKey } from '../domain/directory.ts';
import type { Verdict } from '../domain/seals/record-seals.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from '../telemetry/logger.ts';

/** The interval of lines; those in between are counted. */
const LINE_EVERY_MS = 10_000;
/** Records whose refused version is remembered. */
const REMEMBERED_MAX = 100_000;

/** Where a record was found that hookrail has not written. */
export type Place = 'stream' | 'store';

const WHAT: Readonly<Record<Place, string>> = {
  stream:
    'a record of the directory stream does not fit its seal, or has none, and was not applied: something other than hookrail has written it; find out who may write the topic (docs/operate/README.md, HookrailDirectoryRefused)',
  store:
    'a merchant or an endpoint was changed in the database by something other than hookrail, and the change was not published: find out who may write the database; a restart of the process with the role api puts back the newest sealed record of the directory stream (docs/operate/README.md, HookrailDirectoryRefused)',
};

/** Counts and logs directory records that are refused. */
export class RefusedRecords {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #counter: Counter<'place' | 'reason'>;
  #lineAt = Number.NEGATIVE_INFINITY;
  #since = 0;
  /** The highest version that was refused of a record on the stream. */
  readonly #highest = new Map<string, number>();

  constructor({
    clock,
    log,
    registry,
  }: { readonly clock: Clock; readonly log: Logger; readonly registry: Registry }) {
    this.#clock = clock;
    this.#log = log;
    this.#counter = new Counter({
      name: 'hookrail_directory_refused_total',
      help: 'Directory records that were refused because they do not fit their seal or have none, by place (stream, store) and reason.',
      labelNames: ['place', 'reason'] as const,
      registers: [registry],
    });
  }

  note(place: Place, change: DirectoryChange, reason: Verdict | 'old_base'): void {
    this.#counter.inc({ place, reason });
    this.#since += 1;
    const key = directoryKey(change);
    if (place === 'stream' && (this.#highest.has(key) || this.#highest.size < REMEMBERED_MAX))
      this.#highest.set(key, Math.max(this.#highest.get(key) ?? 0, change.version));
    const now = this.#clock.now();
    if (now - this.#lineAt < LINE_EVERY_MS) return;
    const { version } = change;
    this.#log.error(
      {
        event: 'directory_record_refused',
        record: key,
        version,
        place,
        reason,
        refused: this.#since,
      },
      WHAT[place],
    );
    this.#lineAt = now;
    this.#since = 0;
  }

  /** Returns the highest version of a record on the stream that was refused; 0 if there is none. */
  refusedVersion(change: Pick<DirectoryChange, 'kind' | 'id'>): number {
    return this.#highest.get(directoryKey(change)) ?? 0;
  }
}
