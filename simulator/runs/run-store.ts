import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { errorLine } from '../../services/messages/error-message.ts';
import { usage } from '../exit.ts';
import type { PlanOptions } from '../scenario/plan.ts';
import type { Expectation, Step } from '../scenario/scenario-format.ts';

/** The beginning of a run's record. */
export interface RunHeader {
  readonly scenario: string;
  readonly seed: string;
  /** RFC 3339. */
  readonly created_at: string;
  readonly sink: string;
  /** Steps that the platform would not allow may be among them. */
  readonly forced: boolean;
  readonly expect: readonly Expectation[];
  /** The steps to send, in their order; a run that is played by hand adds its own. */
  readonly planned: readonly RunStep[];
  /** A run that is played by hand, with everything that its next events are made of. */
  readonly by_hand: { readonly text: string; readonly source: string; readonly plan: PlanOptions } | null;
}

export interface RunStep {
  readonly step: string;
  readonly type: string;
  readonly subType: string;
  readonly event_uuid: string;
  readonly entity_uuid: string;
}

/** A step that was sent. */
export interface SentStep extends RunStep {
  /** RFC 3339, by the clock of the machine that sent it. */
  readonly sent_at: string;
  readonly status: string;
  /** The step of a run that is played by hand: those after it are made with it. */
  readonly made?: Omit<Step, 'line'>;
}

/** A run as its record has it. */
export interface Run extends RunHeader {
  readonly id: string;
  readonly sent: readonly SentStep[];
}

/** The number of runs that are kept: those used last. */
const RUNS_MAX = 50;
const SUFFIX = '.ndjson';
const ID = /^run-[0-9a-f]{6,}$/;

/** Writes what a run sends, line by line, so that a run that is killed has its record too. */
export interface RunRecorder {
  readonly id: string;
  sent(step: SentStep): void;
}

/** The records of runs, in the data directory: what `assert` checks and `step` continues. */
export class RunStore {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'runs');
  }

  /** Begins a record and forgets the oldest ones. Throws a usage failure when it cannot be written. */
  begin(header: RunHeader): RunRecorder {
    const id = `run-${randomBytes(4).toString('hex')}`;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(this.#file(id), `${JSON.stringify(header)}\n`, { mode: 0o600, flag: 'wx' });
      for (const old of this.#ids().slice(RUNS_MAX)) rmSync(this.#file(old), { force: true });
    } catch (error) {
      throw usage(`the run cannot be recorded in ${this.#folder}: ${errorLine(error)}`);
    }
    return this.recorderOf(id);
  }

  /** Returns what adds to the record of a run. */
  recorderOf(id: string): RunRecorder {
    const file = this.#file(id);
    return { id, sent: (step) => appendFileSync(file, `${JSON.stringify(step)}\n`) };
  }

  /** Returns every run that is kept, the one used last first. */
  all(): readonly Run[] {
    return this.#ids().map((id) => this.#read(id));
  }

  /** Returns a run by its id, the beginning of it, or `last`. Throws a usage failure that names the newest ones. */
  find(name: string): Run {
    const ids = this.#ids();
    const newest = ids.slice(0, 5);
    const next =
      newest.length === 0
        ? ['play one: hookrail sim run onramp.happy']
        : [`the newest are ${newest.join(', ')}`];
    const found = name === 'last' ? ids.slice(0, 1) : ids.filter((id) => id === name);
    const matches = found.length > 0 ? found : ids.filter((id) => /^run-./.test(name) && id.startsWith(name));
    const [id, second] = matches;
    if (id === undefined) throw usage(`there is no run "${name}" in ${this.#folder}`, ...next);
    if (second !== undefined) throw usage(`"${name}" is the beginning of ${matches.join(', ')}`);
    return this.#read(id);
  }

  #ids(): readonly string[] {
    if (!existsSync(this.#folder)) return [];
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length))
      .filter((id) => ID.test(id))
      .map((id) => ({ id, usedAt: statSync(this.#file(id)).mtimeMs }))
      .sort((a, b) => b.usedAt - a.usedAt || a.id.localeCompare(b.id))
      .map(({ id }) => id);
  }

  #read(id: string): Run {
    const [header = '', ...lines] = readFileSync(this.#file(id), 'utf8').split('\n');
    try {
      // The last line is incomplete when the run was killed while writing it.
      const complete = lines.slice(0, -1).map((line) => JSON.parse(line) as SentStep);
      return { id, ...(JSON.parse(header) as RunHeader), sent: complete };
    } catch {
      throw usage(`${this.#file(id)} is not the record of a run: delete it`);
    }
  }

  #file(id: string): string {
    return join(this.#folder, `${id}${SUFFIX}`);
  }
}
