import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from './clock.ts';

/** One move: from this moment of `wall()` on, the clock was so many milliseconds ahead of the system's time. */
type Move = readonly [from: number, aheadMs: number];

/** The moves that are remembered. An attempt before the first of them is shown as if it were made after it. */
const MOVES_MAX = 2000;
const FILE_MODE = 0o600;

/**
 * The clock of a sandbox, which can be moved on, so that a schedule of 18 hours is seen in a minute. Only `wall()` moves:
 * `now()` and timers do not, so no time-out, pause or rate limit ends early. What waits for a due time is brought forward
 * by whoever moves the clock.
 *
 * The moves are kept in the data directory: after a restart `now()` and `wall()` start where the clock was, and due times
 * in files stay as they are.
 */
export class SandboxClock implements Clock {
  readonly #base: Clock;
  readonly #file: string;
  #moves: readonly Move[];
  /** By how much the clock was ahead when this process started. */
  readonly #aheadAtStart: number;
  #movedSince = 0;

  private constructor(base: Clock, file: string, moves: readonly Move[]) {
    this.#base = base;
    this.#file = file;
    this.#moves = moves;
    this.#aheadAtStart = aheadOf(moves);
  }

  /** Opens the clock of a data directory. Throws one line for a developer when its file is damaged. */
  static open(dataDir: string, base = systemClock()): SandboxClock {
    const file = join(dataDir, 'sandbox-clock.json');
    return new SandboxClock(base, file, readMoves(file));
  }

  now(): number {
    return this.#base.now() + this.#aheadAtStart;
  }

  wall(at?: number): number {
    const wall = at === undefined ? this.#base.wall() : this.#base.wall(at - this.#aheadAtStart);
    return wall + this.#aheadAtStart + this.#movedSince;
  }

  system(wall: number): number {
    const move = this.#moves.findLast(([from]) => from <= wall) ?? this.#moves[0];
    const isKnown = move !== undefined && (move[0] <= wall || this.#moves.length === MOVES_MAX);
    return isKnown ? wall - move[1] : wall;
  }

  idleMs(): number {
    return this.#base.idleMs();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#base.sleep(ms, signal);
  }

  at(at: number, callback: () => void): () => void {
    return this.#base.at(at - this.#aheadAtStart, callback);
  }

  /**
   * Moves the clock on. `bringForward` must call `moved` at the moment from which due times are earlier by `ms`; when it
   * rejects, the clock is not moved. The move is written first: after a crash in between, tasks are late at worst by
   * what the clock still had to go.
   */
  async advance(ms: number, bringForward: (moved: () => void) => Promise<void>): Promise<void> {
    const before = this.#moves;
    const move: Move = [this.wall() + ms, aheadOf(before) + ms];
    const after = [...before, move].slice(-MOVES_MAX);
    this.#write(after);
    try {
      await bringForward(() => {
        this.#moves = after;
        this.#movedSince += ms;
      });
    } finally {
      if (this.#moves === before) this.#write(before);
    }
  }

  /** Written beside the file and renamed: it is never incomplete. */
  #write(moves: readonly Move[]): void {
    const part = `${this.#file}.part`;
    const descriptor = openSync(part, 'w', FILE_MODE);
    try {
      writeSync(descriptor, `${JSON.stringify({ moves })}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(part, this.#file);
  }
}

/** Opens the clock of a process: only that of a sandbox can be moved on, and only where one process measures the delays. */
export function openClock(config: {
  readonly environment: 'sandbox' | 'production';
  readonly engine: 'sqlite' | 'kafka';
  readonly dataDir: string;
}): Clock {
  const isMovable = config.environment === 'sandbox' && config.engine === 'sqlite';
  return isMovable ? SandboxClock.open(config.dataDir) : systemClock();
}

function aheadOf(moves: readonly Move[]): number {
  return moves.at(-1)?.[1] ?? 0;
}

function readMoves(file: string): readonly Move[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new Error(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  const moves = movesIn(text);
  if (moves === undefined)
    throw new Error(`${file} is damaged: remove it, and the sandbox's clock shows the system's time again`);
  return moves;
}

function movesIn(text: string): readonly Move[] | undefined {
  try {
    const { moves } = JSON.parse(text) as { moves: readonly Move[] };
    const isMove = (move: unknown) =>
      Array.isArray(move) && move.length === 2 && move.every((value) => Number.isFinite(value));
    return Array.isArray(moves) && moves.every(isMove) ? moves : undefined;
  } catch {
    return undefined;
  }
}
