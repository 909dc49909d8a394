/**
 * Endpoints that answer at once while this process cannot keep up: a burst, a service that is stopped and continued, a
 * machine that is busy with something else. Nothing of that is the endpoints' fault, so their tasks must not wait longer
 * than the work takes, and none may be parked beyond the shortest time.
 */

import { bareTarget, startBareLoop } from '../bare-loop.ts';
import { startBusyLoops } from '../busy/busy-loops.ts';
import { since } from '../counts.ts';
import { arrived, type RunOptions, recorded, roomAt, withService } from '../engine.ts';
import { EVENTS_PER_REQUEST, pour, sleep } from '../load.ts';
import { wallClock } from '../measure.ts';
import { type Parked, parkedLater, parkedSoon } from '../parked.ts';
import { nameOf } from '../report/names.ts';
import type { Service } from '../service.ts';

export interface OverloadResult {
  readonly engine: string;
  readonly brokers: number;
  readonly rows: readonly OverloadRow[];
}

export interface OverloadRow {
  readonly what: string;
  readonly events: number;
  /** From the first event, or the continuation of the stopped service, until the last delivery. */
  readonly seconds: number;
  /**
   * The time of the work at the throughput of the first row, times 1.5, plus 5 s. Beside busy loops, that throughput is
   * multiplied by the share of the machine that they leave: the bare loop's rate beside them, divided by its rate alone.
   */
  readonly boundSeconds: number;
  readonly parked: Parked;
}

const ENDPOINTS = 100;
const STOPPED_MS = 5000;
/** The load while the service is stopped, as a share of what it can do. */
const STOPPED_LOAD = 0.25;
/** Before and after the stop. */
const STEADY_MS = 3000;
const BUSY_LOOPS = 4;
const STEP_MS = 50;
const BARE = { warmUpMs: 1000, durationMs: 3000 };
const SLACK = 1.5;
const SLACK_SECONDS = 5;

export function measureOverload(
  options: RunOptions & { readonly calmEvents: number; readonly burstEvents: number },
): Promise<OverloadResult> {
  const { engine, receiver, calmEvents, burstEvents } = options;
  return withService(options, ENDPOINTS, async (service) => {
    const rows: OverloadRow[] = [];
    const bare = await startBareLoop({ ...bareTarget(options), ...BARE });
    await bare.run();
    const calmBare = await bare.run();
    let perSecond = 0;
    const row = async (what: string, events: number, work: () => Promise<number>) => {
      await receiver.reset({ record: false });
      const parkedBefore = await service.parkedTasks();
      const recordedBefore = await service.recordedEntries();
      const seconds = await work();
      await recorded(service, recordedBefore + 2 * events);
      const parked = since(parkedBefore, await service.parkedTasks());
      const boundSeconds = perSecond === 0 ? seconds : (events / perSecond) * SLACK + SLACK_SECONDS;
      rows.push({ what, events, seconds, boundSeconds, parked });
      return seconds;
    };
    const closedLoop = (events: number) => async () => {
      const startedAt = wallClock();
      const publish = () => service.publish(EVENTS_PER_REQUEST);
      await Promise.all([
        arrived(service, receiver, events),
        pour(events / EVENTS_PER_REQUEST, publish, roomAt(options)),
      ]);
      return secondsSince(startedAt);
    };
    perSecond = calmEvents / (await row('calm', calmEvents, closedLoop(calmEvents)));
    await row('a burst', burstEvents, async () => {
      const startedAt = wallClock();
      const publish = () => service.publish(EVENTS_PER_REQUEST);
      await pour(burstEvents / EVENTS_PER_REQUEST, publish, async () => {});
      await arrived(service, receiver, burstEvents);
      return secondsSince(startedAt);
    });
    const steps = (2 * STEADY_MS + STOPPED_MS) / STEP_MS;
    const perStep = Math.max(1, Math.round((perSecond * STOPPED_LOAD * STEP_MS) / 1000));
    await row('stopped for 5 s', steps * perStep, () => whileStopped(options, service, steps, perStep));
    await whileBusy(async () => {
      const busyBare = await bare.run();
      perSecond *= Math.min(1, busyBare.deliveriesPerSecond / calmBare.deliveriesPerSecond);
      await row(`${BUSY_LOOPS} busy loops beside it`, calmEvents, closedLoop(calmEvents));
    });
    await bare.stop();
    return { engine: engine.name, brokers: engine.brokerPids().length, rows };
  });
}

/** Publishes steadily, stops the service in the middle; returns the time from its continuation to the last delivery. */
async function whileStopped(
  { receiver }: RunOptions,
  service: Service,
  steps: number,
  perStep: number,
): Promise<number> {
  const running: Promise<void>[] = [];
  let continuedAt = 0;
  const stop = async () => {
    await sleep(STEADY_MS);
    for (const pid of service.pids) process.kill(pid, 'SIGSTOP');
    await sleep(STOPPED_MS);
    for (const pid of service.pids) process.kill(pid, 'SIGCONT');
    continuedAt = wallClock();
  };
  const stopping = stop();
  for (let step = 0; step < steps; step += 1) {
    running.push(service.publish(perStep));
    await sleep(STEP_MS);
  }
  await Promise.all([stopping, ...running]);
  await arrived(service, receiver, steps * perStep);
  return secondsSince(continuedAt);
}

async function whileBusy(work: () => Promise<void>): Promise<void> {
  const loops = await startBusyLoops(BUSY_LOOPS);
  try {
    await work();
  } finally {
    await loops.stop();
  }
}

const secondsSince = (startedAt: number): number => (wallClock() - startedAt) / 1000;

export function overloadText({ engine, brokers, rows }: OverloadResult): string {
  return [
    `${nameOf(engine, brokers)}: ${ENDPOINTS} endpoints that answer at once`,
    ...rows.map(
      ({ what, events, seconds, boundSeconds, parked }) =>
        `  ${what}: ${events} events, the last delivered after ${seconds.toFixed(1)} s (bound ${boundSeconds.toFixed(1)} s); ` +
        `${parkedSoon(parked)} tasks parked for 3 s, ${parkedLater(parked)} for longer`,
    ),
  ].join('\n');
}
