import type { PlantedBug } from './planted-bug.ts';

const LANE = 'services/sender/lanes/endpoint-state.ts';
const OPTIONS = 'services/sender/lanes/lane-options.ts';
const BACKLOG = 'services/sender/lanes/backlog.ts';
const WAITING = 'services/sender/lanes/waiting.ts';
const QUEUE = 'services/sender/lanes/task-queue.ts';
const RECOVERY = 'test/sender/lanes/recovery.test.ts';
const PARKING = 'test/sender/lanes/parking.test.ts';
const COMES_BACK = 'nothing new is late by a second';

const CONTRACT = 'test/broker/sqlite/contract.test.ts';
const DELAYED = 'services/broker/sqlite/delayed-tasks.ts';
const COUNTED = 'counts the parked tasks by reason, since each was first put back';

/** What an endpoint cannot take must wait elsewhere, and come back as soon as it has recovered. */
export const PARKING_BUGS: readonly PlantedBug[] = [
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
    text: 'return this.#endpointsForUs >= spread ? this.#forUs : 0;',
    replacement: 'return spread > 0 ? this.#forUs : 0;',
    test: PARKING,
    title: 'a burst to a few of many endpoints does not count as waiting',
  },
  {
    id: 'quick-refusals-narrow',
    bug: 'an endpoint that refuses quickly gets one request at a time',
    file: LANE,
    text: "if (result === 'success' || (result === 'rejected' && isQuick)) return",
    replacement: "if (result === 'rejected') return 1;\n    if (result === 'success') return",
    test: 'test/guarantees/fast-failures.test.ts',
    title: 'first attempts and retries of such a receiver begin when they are due',
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
    text: 'if (!wake || !endpoint.parked.canCome) return;',
    replacement: 'if (!wake || now > 0) return;',
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
    text: 'for (const each of this.slow) if (each.time.startedAt < startedAt) this.#hung += 1;',
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
    id: 'own-load-parks-for-long',
    bug: 'tasks that wait for this process are parked for a minute when they are many',
    file: BACKLOG,
    text: 'if (endpoint.waitsForUs(now)) return SOON_SECONDS;',
    replacement: '',
    test: PARKING,
    title: 'tasks that wait for this process come back after 3 s',
  },
  {
    id: 'dark-fill-the-room',
    bug: 'tasks of endpoints that do not answer fill the memory, and those of others are parked',
    file: WAITING,
    text: 'if (!endpoint.waitsForUs(now)) return endpoint;',
    replacement: 'if (now > 0) return endpoint;',
    test: PARKING,
    title: 'make room for one that waits for this process',
  },
  {
    id: 'parked-forgotten-before-durable',
    bug: 'parked tasks that take over three seconds to become durable are not brought back when the endpoint responds',
    file: 'services/sender/lanes/parked-tasks.ts',
    text: 'now - this.#lastAt >= parkedMsMax',
    replacement: 'now - this.#lastAt >= 3000',
    test: 'test/sender/lanes/recovery.test.ts',
    title: 'are brought back once they are durable',
  },
  {
    id: 'parked-since-the-last-time',
    bug: 'the age of a parked task begins again each time it is put back',
    file: 'services/domain/parking.ts',
    text: 'since: task.parked?.since ?? now',
    replacement: 'since: now',
    test: CONTRACT,
    title: COUNTED,
  },
  {
    id: 'parked-for-the-first-reason',
    bug: 'a parked task is counted under the reason for which it was put back first',
    file: 'services/domain/parking.ts',
    text: 'parked: { reason, since',
    replacement: 'parked: { reason: task.parked?.reason ?? reason, since',
    test: CONTRACT,
    title: COUNTED,
  },
  {
    id: 'parked-uncounted-after-restart',
    bug: 'tasks that were parked before a restart are not counted',
    file: DELAYED,
    text: 'if (id < this.#firstOwn) this.tally.add(task.parked);',
    replacement: '',
    test: CONTRACT,
    title: COUNTED,
  },
  {
    id: 'parked-counted-for-ever',
    bug: 'parked tasks are counted after they have come back',
    file: DELAYED,
    text: 'this.tally.remove(next.task.parked);',
    replacement: '',
    test: CONTRACT,
    title: 'brings the parked tasks of an endpoint back when woken',
  },
  {
    id: 'retry-counted-as-parked',
    bug: 'the retry after a parked attempt counts as parked',
    file: 'services/sender/deliver.ts',
    text: 'const next = { ...tried, attempt',
    replacement: 'const next = { ...tried, ...task, attempt',
    test: 'test/sender/deliver.test.ts',
    title: 'is retried n⁶ + 2 s after its end',
  },
];
