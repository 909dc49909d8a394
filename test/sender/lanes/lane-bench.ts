import { Blame } from '../../../services/sender/blame/blame.ts';
import { LANE_OPTIONS, type LaneOptions } from '../../../services/sender/lanes/lane-options.ts';
import { Lanes } from '../../../services/sender/lanes/lanes.ts';
import type { AttemptEnding } from '../../../services/sender/lanes/queued-task.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { FakeTask } from './fake-task.ts';

export interface BenchOptions extends Partial<LaneOptions> {
  /** Decides how late the process is; it is on time by default. */
  readonly lateness?: { readonly isLate?: () => boolean; readonly lateMs?: () => number };
  readonly afterTurn?: (callback: () => void) => void;
}

/** Lanes in simulated time, with tasks that remember what became of them. */
export function laneBench({ lateness = {}, afterTurn, ...options }: BenchOptions = {}) {
  const clock = new SimulatedClock();
  const { isLate = () => false, lateMs = () => 0 } = lateness;
  const blame = new Blame(clock, afterTurn, {
    get isLate() {
      return isLate();
    },
    get lateMs() {
      return lateMs();
    },
    watch: () => {},
    stop: () => {},
  });
  const lanes = new Lanes(clock, blame, { ...LANE_OPTIONS, ...options });
  const started: FakeTask[] = [];
  let entities = 0;
  function admit(endpointId: string, entityId: string | null = `entity ${entities++}`): FakeTask {
    const task = new FakeTask(endpointId, entityId, (each) => started.push(each));
    lanes.admit(task);
    return task;
  }
  return {
    clock,
    lanes,
    /** In the order of their starts. */
    started,
    /** Without an entity's id: a task of an entity of its own. */
    admit,
    admitMany: (count: number, endpointId: string) => Array.from({ length: count }, () => admit(endpointId)),
    settle(
      task: FakeTask | undefined,
      result: AttemptEnding = 'success',
      retryAfterMs: number | null = null,
    ) {
      if (!task) throw new Error('nothing has started');
      lanes.settle(task, result, retryAfterMs);
    },
    inFlight: () => started.filter(({ place }) => place === 'fast' || place === 'slow'),
  };
}
