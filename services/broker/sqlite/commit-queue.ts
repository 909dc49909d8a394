import type { Clock } from '../../process/clock.ts';
import { growingPause } from '../../process/growing-pause.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { CommitHalf, SpareBuffers } from './commit-half.ts';
import type { EngineThread } from './file/engine-thread.ts';
import { Sequencer } from './file/sequencer.ts';
import type { CommitReply, FailReply, Reply } from './file/wire.ts';
import { SettlementsWait } from './settlements-wait.ts';

/** The most bytes published but not yet durable: a publisher that is faster than the disk is refused. */
const OFFERED_BYTES_MAX = 64 * 1024 * 1024;
const RETRY_PAUSE_MS = 250;
const RETRY_PAUSE_MS_MAX = 5_000;

/** Settled work that is notified when it is durable. */
export interface Settled {
  durable(): void;
}

/**
 * Writes what is published. Called again, into another commit, when events routed in the first one were known:
 * `refused` tells it which, as in CommitReply.
 */
export type Publication = (half: CommitHalf, refused: readonly number[]) => void;

interface Publisher {
  readonly write: Publication;
  readonly resolve: (reply: CommitReply) => void;
  readonly reject: (error: Error) => void;
}

type Committed = (
  settlements: CommitHalf,
  publications: CommitHalf | null,
  at: number,
  reply: CommitReply,
) => void;

interface Running {
  readonly at: number;
  readonly settlements: CommitHalf;
  readonly publications: CommitHalf;
  readonly settled: readonly Settled[];
  readonly publishers: readonly Publisher[];
}

/**
 * Group commit by natural batching: writes that arrive while a commit runs are gathered and go into the next. A commit
 * has two halves. `settlements`: finished work, retried until it is durable. `publications`: publishers get a rejection
 * when the commit fails, and may publish again. Publications, and settlements that somebody waits for, are committed at
 * the end of the event loop's turn; other settlements with them, or when their wait is over. What is written without
 * `settled` starts no commit.
 *
 *     waiting ──► scheduled ──► running ──► committed: settlements are durable, and ┬─ publications, too
 *         ▲   end of the turn        │                                              └─ or one was known: all but
 *         └──────────────────────────┤                                                 the known go into the next
 *                                    ├──► refused (disk full): publishers are rejected; the settlements run again
 *                                    │    after a pause that grows
 *                                    └──► dead (a failed fsync, or `end`): nothing is written any more
 */
export class CommitQueue {
  /** Of the events that are published. */
  readonly sequencer: Sequencer;
  readonly #thread: EngineThread;
  readonly #clock: Clock;
  readonly #file: string;
  readonly #log: Logger | undefined;
  readonly #committed: Committed;
  readonly #fatal: (error: Error) => void;
  readonly #spare = new SpareBuffers();
  #settlements: CommitHalf;
  #publications: CommitHalf;
  #settled: Settled[] = [];
  #publishers: Publisher[] = [];
  #running: Running | null = null;
  #scheduled = false;
  /** Commits in a row that the disk refused. */
  #failures = 0;
  #dead: Error | null = null;
  #cancelRetry: () => void = () => {};
  readonly #wait: SettlementsWait;
  #idle: (() => void)[] = [];

  constructor(options: {
    readonly thread: EngineThread;
    readonly clock: Clock;
    /** The data file, for the log. */
    readonly file: string;
    readonly log: Logger | undefined;
    /** The highest sequence in the file. */
    readonly sequence: number;
    /** Called before anyone is notified that it is durable. Without publications: they go into the next commit. */
    readonly committed: Committed;
    readonly fatal: (error: Error) => void;
  }) {
    this.#thread = options.thread;
    this.#clock = options.clock;
    this.#file = options.file;
    this.#log = options.log;
    this.#committed = options.committed;
    this.sequencer = new Sequencer(options.clock, options.sequence);
    this.#fatal = options.fatal;
    this.#settlements = new CommitHalf(this.#spare);
    this.#publications = new CommitHalf(this.#spare);
    this.#wait = new SettlementsWait(options.clock, () => this.hurry());
  }

  /** Whether commits succeed. */
  get reachable(): boolean {
    return this.#failures === 0 && this.#dead === null;
  }

  /** How long the current commit has been running, milliseconds. */
  get waitingMs(): number {
    return this.#running ? Math.max(0, this.#clock.now() - this.#running.at) : 0;
  }

  /** Whether a commit is running. */
  get busy(): boolean {
    return this.#running !== null;
  }

  /** Whether nothing is being committed or waits for it. */
  get isIdle(): boolean {
    return !this.#running && !this.#hasWork;
  }

  /** The half that settlements are written into. Call `settled` after writing. */
  get settlements(): CommitHalf {
    return this.#settlements;
  }

  /** Marks the settlement just written as complete; `settled.durable` is called once it is durable. */
  settled(settled: Settled): void {
    this.#settled.push(settled);
    this.#schedule();
  }

  /**
   * Resolves when everything that `write` wrote is durable. Rejects when the commit failed, or when too much is
   * waiting.
   */
  publish(write: Publication): Promise<CommitReply> {
    return new Promise((resolve, reject) => {
      if (this.#dead) return reject(this.#dead);
      if (this.#publications.bytes > OFFERED_BYTES_MAX) {
        const mebibytes = OFFERED_BYTES_MAX / 1024 / 1024;
        return reject(new Error(`${mebibytes} MiB are already waiting to be written: publish more slowly`));
      }
      write(this.#publications, []);
      this.#publishers.push({ write, resolve, reject });
      this.#schedule();
    });
  }

  /** Commits what was written at the end of this turn: somebody waits for it. */
  hurry(): void {
    this.#wait.hurry();
    this.#schedule();
  }

  /** Resolves when nothing waits to be written, or nothing can be written any more. */
  drained(): Promise<void> {
    this.hurry();
    if (this.#dead || (!this.#running && !this.#scheduled)) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Ends the queue: nothing can be written any more. Publishers get the error; settlements are not acknowledged. */
  end(error: Error): void {
    if (this.#dead) return;
    this.#dead = error;
    this.#cancelRetry();
    this.#wait.end();
    for (const { reject } of [...(this.#running?.publishers ?? []), ...this.#publishers]) reject(error);
    this.#publishers = [];
    this.#wakeIdle();
  }

  get #hasWork(): boolean {
    if (this.#publishers.length + this.#settled.length > 0) return true;
    return !this.#settlements.empty || !this.#publications.empty;
  }

  /**
   * Starts at the end of this turn of the event loop, so that all writes of a turn are committed together: a commit has
   * a fixed cost in two threads and on the disk. An idle loop's turn ends at once.
   */
  #schedule(): void {
    if (this.#scheduled || this.#running || this.#dead) return;
    const isAwaited = this.#publishers.length + this.#idle.length > 0;
    if (!isAwaited && this.#wait.waits(this.#settled.length, this.#settlements.firstDue)) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#start();
    });
  }

  #start(): void {
    if (this.#running || this.#dead) return;
    this.#wait.end();
    if (!this.#hasWork) {
      this.#wakeIdle();
      return;
    }
    const at = this.#clock.wall();
    this.#running = {
      at,
      settlements: this.#settlements,
      publications: this.#publications,
      settled: this.#settled,
      publishers: this.#publishers,
    };
    this.#settlements = new CommitHalf(this.#spare);
    this.#publications = new CommitHalf(this.#spare);
    this.#settled = [];
    this.#publishers = [];
    this.#send(this.#running, this.#running.settlements.seal(), this.#running.publications.seal());
  }

  #send(running: Running, settlements: ArrayBuffer, publications: ArrayBuffer): void {
    // Read when it is sent: it covers every event of the commit.
    const { last: sequence } = this.sequencer;
    this.#thread.send(
      { kind: 'commit', at: running.at, setBy: this.#clock.wall(0), sequence, settlements, publications },
      [settlements, publications],
      (reply) => {
        if (this.#dead) return;
        if (reply.kind === 'committed') this.#done(running, reply);
        else this.#failed(running, reply);
      },
    );
  }

  #done(running: Running, reply: CommitReply): void {
    if (this.#failures > 0)
      this.#log?.warn({ event: 'broker_writable', file: this.#file }, `${this.#file} can be written again`);
    this.#failures = 0;
    this.#running = null;
    this.#spare.give(reply.spare);
    this.#schedule();
    const isRefused = reply.refused.length > 0;
    this.#committed(running.settlements, isRefused ? null : running.publications, running.at, reply);
    for (const settled of running.settled) settled.durable();
    if (isRefused) this.#publishAgain(running.publishers, reply.refused);
    // The tasks of this commit are sent first: to answer a producer takes longer than to write a webhook.
    else if (running.publishers.length > 0)
      setImmediate(() => {
        for (const { resolve } of running.publishers) resolve(reply);
      });
  }

  /** Events routed in the publications were known: everything else in them goes into the next commit. */
  #publishAgain(publishers: readonly Publisher[], refused: readonly number[]): void {
    for (const publisher of publishers) {
      publisher.write(this.#publications, refused);
      this.#publishers.push(publisher);
    }
    this.#schedule();
  }

  #failed(running: Running, reply: Reply): void {
    const { code, message, passing, settlements } = reply as FailReply;
    const error = new Error(`the broker could not write (${code}: ${message})`);
    if (this.#failures === 0 || !passing) {
      const what = `${this.#file} cannot be written (${code}): free space on its disk, or repair it`;
      this.#log?.error({ event: 'broker_not_writable', file: this.#file, code, detail: message }, what);
    }
    if (!passing) {
      this.#fatal(error);
      return;
    }
    for (const { reject } of [...running.publishers, ...this.#publishers]) reject(error);
    this.#publishers = [];
    this.#publications = new CommitHalf(this.#spare);
    this.#failures += 1;
    const pause = growingPause(this.#failures, RETRY_PAUSE_MS, RETRY_PAUSE_MS_MAX);
    const empty = new CommitHalf(this.#spare);
    // A small write is included, so that an empty commit does not count as proof that the disk accepts writes again.
    empty.probe(this.#clock.now());
    const again: Running = { ...running, publications: empty, publishers: [] };
    this.#running = again;
    this.#cancelRetry = this.#clock.at(this.#clock.now() + pause, () => {
      if (!this.#dead) this.#send(again, settlements, empty.seal());
    });
  }

  #wakeIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
