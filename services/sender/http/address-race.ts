import type { Clock } from '../../process/clock.ts';
import { inTurn } from './names/addresses.ts';

/** A connection that is being opened. */
export interface Dial<Result> {
  readonly result: Promise<Result>;
  /** Gives up and closes its sockets. */
  cancel(): void;
}

export interface RaceRules<Way> {
  readonly clock: Clock;
  /** The next way is tried after the last one begun has been silent for this long, milliseconds. `waiting`: the ways left. */
  readonly staggerMs: (waiting: number) => number;
  /** And after one that has connected, but is not established, has been silent for this long. */
  readonly connectedMs: number;
  /** Returns whether another way may be tried after this failure. */
  readonly mayGoOn: (error: Error) => boolean;
  /** Returns whether another connection may be opened now. */
  readonly mayOpen?: () => boolean;
  /** Ways that become known later; a rejection ends the race. */
  readonly later?: Promise<readonly Way[]> | null;
}

/**
 * Tries the ways to a receiver in turn (RFC 8305): the next one after the previous one has failed, or has been silent for
 * a while. The first one that is established is used, and the others are closed.
 */
export class Race<Way, Result> implements Dial<Result> {
  /** The first connection established; or the failure of one that had connected, or else of the last one. */
  readonly result: Promise<Result>;
  readonly #rules: RaceRules<Way>;
  readonly #dial: (way: Way, onConnected: () => void) => Dial<Result>;
  readonly #begun = new Map<Dial<Result>, { readonly way: Way; isConnected: boolean }>();
  #waiting: Way[];
  #areMoreExpected: boolean;
  #disarm: (() => void) | null = null;
  #isDecided = false;
  #failure: { readonly error: Error; readonly isConnected: boolean } | null = null;
  #resolve: (result: Result) => void = () => {};
  #reject: (error: Error) => void = () => {};

  /** `dial` opens a connection, and calls back once it has connected. It must not call back before it returns. */
  constructor(
    ways: readonly Way[],
    dial: (way: Way, onConnected: () => void) => Dial<Result>,
    rules: RaceRules<Way>,
  ) {
    this.#rules = rules;
    this.#dial = dial;
    this.#waiting = [...ways];
    this.#areMoreExpected = Boolean(rules.later);
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    rules.later?.then(
      (more) => this.#add(more),
      (error: Error) => this.#fail(error),
    );
    this.#next();
  }

  cancel(): void {
    this.#decide(null);
  }

  #next(): void {
    this.#stopWaiting();
    if (this.#isDecided) return;
    const way = this.#rules.mayOpen?.() === false ? undefined : this.#waiting.shift();
    if (way === undefined) {
      const isOver = this.#begun.size === 0 && !(this.#areMoreExpected && this.#waiting.length === 0);
      if (isOver) this.#fail(this.#failure?.error ?? new Error('no way may be tried'));
      return;
    }
    const state = { way, isConnected: false };
    const opened = this.#dial(way, () => this.#connected(state));
    this.#begun.set(opened, state);
    opened.result.then(
      (result) => this.#won(opened, result),
      (error: Error) => this.#failed(opened, error),
    );
    this.#wait();
  }

  #add(more: readonly Way[]): void {
    this.#areMoreExpected = false;
    this.#waiting = inTurn(more, this.#waiting);
    if (this.#begun.size === 0) this.#next();
    else this.#wait();
  }

  /** Of the others, those that have not connected are closed; their ways are tried again should this one fail. */
  #connected(state: { isConnected: boolean }): void {
    if (this.#isDecided) return;
    state.isConnected = true;
    for (const [dial, { way, isConnected }] of [...this.#begun]) {
      if (isConnected) continue;
      this.#begun.delete(dial);
      this.#waiting.unshift(way);
      dial.cancel();
    }
    this.#stopWaiting();
    this.#wait();
  }

  #won(dial: Dial<Result>, result: Result): void {
    if (!this.#begun.has(dial) || this.#isDecided) return;
    this.#decide(dial);
    this.#resolve(result);
  }

  #failed(dial: Dial<Result>, error: Error): void {
    const state = this.#begun.get(dial);
    this.#begun.delete(dial);
    if (!state || this.#isDecided) return;
    const { isConnected } = state;
    if (isConnected || !this.#failure?.isConnected) this.#failure = { error, isConnected };
    if (this.#rules.mayGoOn(error)) this.#next();
    else this.#fail(error);
  }

  #fail(error: Error): void {
    if (this.#isDecided) return;
    this.#decide(null);
    this.#reject(error);
  }

  /** Closes all connections but the winner. */
  #decide(winner: Dial<Result> | null): void {
    this.#isDecided = true;
    this.#stopWaiting();
    for (const dial of this.#begun.keys()) if (dial !== winner) dial.cancel();
  }

  #wait(): void {
    const { clock, staggerMs, connectedMs } = this.#rules;
    if (this.#isDecided || this.#disarm || this.#waiting.length === 0) return;
    const hasConnected = [...this.#begun.values()].some(({ isConnected }) => isConnected);
    const ms = hasConnected ? connectedMs : staggerMs(this.#waiting.length);
    if (ms === Number.POSITIVE_INFINITY) return;
    this.#disarm = clock.at(clock.now() + ms, () => this.#next());
  }

  #stopWaiting(): void {
    this.#disarm?.();
    this.#disarm = null;
  }
}
