import type { PlantedBug } from './planted-bug.ts';

const LANES = 'services/sender/lanes/lanes.ts';
const LANE = 'services/sender/lanes/endpoint-lane.ts';
const OPTIONS = 'services/sender/lanes/lane-options.ts';
const BACKLOG = 'services/sender/lanes/backlog.ts';
const WAITING = 'services/sender/lanes/waiting.ts';
const QUEUE = 'services/sender/lanes/task-queue.ts';

const ISOLATION = 'test/sender/lanes/isolation.test.ts';
const RECOVERY = 'test/sender/lanes/recovery.test.ts';
const PARKING = 'test/sender/lanes/parking.test.ts';
const LANES_TEST = 'test/sender/lanes/lanes.test.ts';
const ALL_HANG = '100 endpoints with wide windows that hang all at once';
const COMES_BACK = 'nothing new is late by a second';

/** One endpoint or merchant must not slow down another, and a recovered endpoint must get its deliveries at once. */
export const LANE_BUGS: readonly PlantedBug[] = [
  {
    id: 'slow-keep-fast-slots',
    bug: 'attempts that become slow keep their fast slots',
    file: LANES,
    text: 'this.#overdue.add(task);',
    replacement: '',
    test: ISOLATION,
    title: ALL_HANG,
  },
  {
    id: 'turned-slow-held-to-slow-slots',
    bug: 'attempts that become slow keep their fast slots when the slow lane is full',
    file: LANES,
    text: 'if (this.#slow >= this.#options.slowSlotsMost) return;',
    replacement: 'if (this.#slow >= this.#options.slowSlots) return;',
    test: ISOLATION,
    title: ALL_HANG,
  },
  {
    id: 'quick-success-speaks-for-slow',
    bug: 'earlier quick successes make a hanging endpoint count as healthy',
    file: LANE,
    text: 'const succeededAt = this.isSlow ? this.#succeededSlowlyAt : this.#succeededAt;',
    replacement: 'const succeededAt = this.#succeededAt;',
    test: LANES_TEST,
    title: 'do not treat a hanging endpoint as healthy',
  },
  {
    id: 'slow-share-unbounded',
    bug: 'one endpoint can fill the slow lane',
    file: LANE,
    text: 'if (this.#slowOnes >= slowMost(options, slow, isAnswering)) return false;',
    replacement: 'void [slowMost, slow, isAnswering];',
    test: LANES_TEST,
    title: 'gives an endpoint known to be slow no fast slot',
  },
  {
    id: 'slow-share-late',
    bug: 'unresponsive endpoints are limited to a share of the slow lane only once it is full',
    file: OPTIONS,
    text: 'const FULL_FROM = 0.5;',
    replacement: 'const FULL_FROM = 0.99;',
    test: 'test/sender/lanes/lane-options.test.ts',
  },
  {
    id: 'turns-not-taken',
    bug: 'an endpoint with a large backlog takes every free slot',
    file: LANES,
    text: 'if (lane.queue.hasNext) ready.append(turn);',
    replacement:
      'if (lane.queue.hasNext) ready.append(turn);\n      for (let other = ready.first; other && lane.queue.hasNext && other !== turn; other = ready.first) {\n        ready.remove(other);\n        ready.append(other);\n      }',
    test: LANES_TEST,
    title: 'give endpoints one fast slot each in turn',
  },
  {
    id: 'known-slow-starts-fast',
    bug: 'attempts to an endpoint known to be slow start in the fast lane',
    file: LANES,
    text: 'if (lane.isSlow) this.#enterSlow(lane, task);',
    replacement: 'if (lane.isSlow && task.isProbe) this.#enterSlow(lane, task);',
    test: LANES_TEST,
    title: 'gives an endpoint known to be slow no fast slot',
  },
  {
    id: 'waiting-share-ignored',
    bug: 'one endpoint’s tasks can use all the memory for waiting tasks',
    file: WAITING,
    text: 'const most = isShort ? share : waitingMax;',
    replacement: 'const most = isShort && share < 0 ? share : waitingMax;',
    test: PARKING,
    title: 'an endpoint that answers slowly keeps what it takes in a few seconds',
  },
  {
    id: 'burst-pauses-intake',
    bug: 'a burst to a few of many endpoints pauses intake for all of them',
    file: WAITING,
    text: 'return this.#lanesForUs >= spread ? this.#forUs : 0;',
    replacement: 'return spread > 0 ? this.#forUs : 0;',
    test: PARKING,
    title: 'a burst to a few of many endpoints does not count as waiting',
  },
  {
    id: 'own-pace-waits-for-us',
    bug: 'a burst to an endpoint that responds at its usual pace delays the tasks after it',
    file: LANE,
    text: '&& now >= this.#narrowUntil && !this.#isAtItsPace;',
    replacement: '&& now >= this.#narrowUntil && (true || !this.#isAtItsPace);',
    test: PARKING,
    title: 'a burst to an endpoint that answers in 150 ms',
  },
  {
    id: 'parked-for-twelve-minutes',
    bug: 'tasks of a hanging endpoint are parked for twelve minutes',
    file: BACKLOG,
    text: 'const LATER_SECONDS = 66;',
    replacement: 'const LATER_SECONDS = 731;',
    test: PARKING,
    title: 'no task is parked for longer than 66 s',
  },
  {
    id: 'parked-not-brought-back',
    bug: 'parked tasks are not brought back when their endpoint responds again',
    file: BACKLOG,
    text: 'if (!this.wake || lane.isWaking || lane.parked === 0) return;',
    replacement: 'if (!this.wake || lane.isWaking || lane.parked >= 0) return;',
    test: RECOVERY,
    title: COMES_BACK,
  },
  {
    id: 'hanging-endpoint-untried',
    bug: 'a hanging endpoint is not probed until its attempts time out',
    file: OPTIONS,
    text: 'probeEveryMs: 500,',
    replacement: 'probeEveryMs: 30_000,',
    test: RECOVERY,
    title: COMES_BACK,
  },
  {
    id: 'hung-narrow-the-window',
    bug: 'attempts that have hung since before a recovery fill the window',
    file: LANE,
    text: 'for (const each of this.slow) if (each.startedAt < startedAt) this.#hung += 1;',
    replacement: '',
    test: RECOVERY,
    title: COMES_BACK,
  },
  {
    id: 'backlog-before-new',
    bug: 'the backlog is sent before new tasks',
    file: QUEUE,
    text: 'const first = this.#turn === 0 ? this.#backlog : this.#fresh;',
    replacement: 'const first = this.#turn >= 0 ? this.#backlog : this.#fresh;',
    test: RECOVERY,
    title: COMES_BACK,
  },
  {
    id: 'all-parked-soon',
    bug: 'all parked tasks come back every three seconds',
    file: BACKLOG,
    text: 'if (!isSoon) return LATER_SECONDS;',
    replacement: 'if (!isSoon) return SOON_SECONDS;',
    test: PARKING,
    title: 'few parked tasks come back after 3 s',
  },
  {
    id: 'fast-slots-for-receivers',
    bug: 'unresponsive receivers keep the number of fast slots from growing for all others',
    file: 'services/sender/lanes/fast-slots.ts',
    text: 'const isHeld = this.#freed === 0 && idleShare > 0;',
    replacement: 'const isHeld = this.#freed < 0 && idleShare > 0;',
    test: 'test/sender/lanes/fast-slots.test.ts',
    title: 'has more fast slots when none is given back',
  },
  {
    id: 'parked-forgotten-before-durable',
    bug: 'parked tasks that take over three seconds to become durable are not brought back when the endpoint responds',
    file: 'services/sender/lanes/backlog.ts',
    text: 'now - lane.parkedAt >= PARKED_MS_MAX',
    replacement: 'now - lane.parkedAt >= 3000',
    test: 'test/sender/lanes/recovery.test.ts',
    title: 'are brought back once they are durable',
  },
];
