import type { TaskClass } from '../../../services/domain/task.ts';
import { Blame } from '../../../services/sender/blame/blame.ts';
import { LANE_OPTIONS } from '../../../services/sender/lanes/lane-options.ts';
import { Lanes } from '../../../services/sender/lanes/lanes.ts';
import { Paces } from '../../../services/sender/lanes/paces.ts';
import type { AttemptEnding } from '../../../services/sender/lanes/queued-task.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { FakeTask } from './fake-task.ts';

/** A request that an endpoint got. */
export interface Start {
  readonly at: number;
  readonly endpointId: string;
  readonly entityId: string | null;
  readonly sequence: number;
  readonly taskClass: TaskClass;
}

/** The time in which a receiver of the bench answers, milliseconds. */
const ANSWER_MS = 5;

/** Lanes of all classes in simulated time, whose parked tasks come back, with endpoints that have limits of their own. */
export class PacedBench {
  readonly clock = new SimulatedClock();
  /** Requests per second by endpoint. */
  readonly rates = new Map<string, number>();
  readonly starts: Start[] = [];
  /** Tasks that were parked, each time. */
  readonly parked: FakeTask[] = [];
  /** The result of each attempt. */
  ending: AttemptEnding = 'success';
  readonly #paces = new Paces(this.clock, this.rates);
  readonly #lanes = new Map<TaskClass, Lanes>();
  /** Tasks that wait in the broker, the longest parked first. */
  readonly #away = new Map<FakeTask, { readonly taskClass: TaskClass }>();
  readonly #canWake: boolean;

  /** `canWake`: parked tasks can be brought back, as in the embedded engine; else they come when they are due. */
  constructor({ canWake }: { readonly canWake: boolean }) {
    this.#canWake = canWake;
  }

  lanes(taskClass: TaskClass = 'live'): Lanes {
    const known = this.#lanes.get(taskClass);
    if (known) return known;
    const wake = (endpointId: string, most: number) => {
      const woken = [...this.#away.keys()].filter((each) => each.endpointId === endpointId).slice(0, most);
      for (const each of woken) this.#comeBack(each);
      return Promise.resolve(woken.length);
    };
    const of = { paces: this.#paces, taskClass, wake: this.#canWake ? wake : null };
    const lanes = new Lanes(this.clock, new Blame(this.clock), LANE_OPTIONS, of);
    this.#lanes.set(taskClass, lanes);
    return lanes;
  }

  admit(
    task: Pick<Start, 'endpointId' | 'entityId' | 'sequence'>,
    taskClass: TaskClass = 'live',
    isBacklog = false,
  ): void {
    const { endpointId, entityId, sequence } = task;
    const onStart = (started: FakeTask) => {
      this.starts.push({ at: this.clock.now(), endpointId, entityId, sequence, taskClass });
      this.clock.at(this.clock.now() + ANSWER_MS, () =>
        this.lanes(taskClass).settle(started, this.ending, null),
      );
    };
    const fake = new FakeTask(endpointId, entityId, onStart, isBacklog, sequence);
    fake.onPark = (seconds) => {
      this.parked.push(fake);
      this.#away.set(fake, { taskClass });
      this.clock.at(this.clock.now() + seconds * 1000, () => this.#comeBack(fake));
    };
    this.lanes(taskClass).admit(fake);
  }

  #comeBack(fake: FakeTask): void {
    const away = this.#away.get(fake);
    if (away && this.#away.delete(fake)) this.admit(fake, away.taskClass, true);
  }

  /** Lets time pass; promises settle between steps. */
  async run(ms: number, stepMs = 5): Promise<void> {
    const until = this.clock.now() + ms;
    while (this.clock.now() < until) {
      this.clock.advance(Math.min(stepMs, until - this.clock.now()));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Returns the most starts within any second, the end not included. */
export function mostInASecond(starts: readonly Pick<Start, 'at'>[]): number {
  let [most, from] = [0, 0];
  for (const [index, { at }] of starts.entries()) {
    while (at - (starts[from]?.at ?? at) >= 1000) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
}

/** Returns the entities whose starts are not in the order of their sequences. */
export function outOfOrder(starts: readonly Start[]): string[] {
  const newest = new Map<string, number>();
  const found = new Set<string>();
  for (const { endpointId, entityId, sequence } of starts) {
    const key = `${endpointId} ${entityId}`;
    if ((newest.get(key) ?? 0) > sequence) found.add(key);
    newest.set(key, sequence);
  }
  return [...found];
}
