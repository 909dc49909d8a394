import { describe, expect, it } from 'vitest';
import type { ReceivedEvent, RouterResult } from '../../../../services/broker/broker.ts';
import { type DirectItem, DirectTasks } from '../../../../services/broker/kafka/streams/direct-tasks.ts';
import { TopicItem } from '../../../../services/broker/kafka/streams/stream-feed.ts';
import type { DeliveryTask } from '../../../../services/domain/task.ts';
import type { ReadRecord } from '../../../../services/kafka-client/consumer/partition.ts';
import { anEvent, aTask, routed } from '../../../support/records/broker-records.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const result = (...tasks: DeliveryTask[]): RouterResult => ({
  kind: 'routed',
  tasks,
  journal: routed(anEvent()),
});

const TRACE = { topic: 'journal', partition: 0, key: null, value: Buffer.from('trace') };

function setUp() {
  const clock = new SimulatedClock();
  const state = {
    isFull: false,
    isPrompt: true,
    mayBegin: true,
    onTopic: undefined as number | undefined,
    pumped: 0,
  };
  const given: TopicItem<DeliveryTask>[] = [];
  const done: number[] = [];
  const traced: DirectItem[] = [];
  const live = {
    isConsumed: true,
    get isFull() {
      return state.isFull;
    },
    mayTake: () => state.isPrompt && !state.isFull,
    handOver: (item: TopicItem<DeliveryTask>) => void given.push(item),
  };
  const direct = new DirectTasks({
    clock,
    live: live as never,
    taskStreams: {
      now: {
        live: {
          get oldest() {
            return state.onTopic;
          },
        },
      } as never,
      mayBeginFirst: () => state.mayBegin,
    },
    pump: () => {
      state.pumped += 1;
    },
    writeTrace: (item, records) => {
      expect(records).toEqual([TRACE]);
      traced.push(item);
    },
  });
  let offset = 0;
  const event = (bytes = 1000) => {
    const record = { offset: offset++, bytes, partition: { isAlive: true } } as unknown as ReadRecord;
    const reader = { isTrusted: true, done: (one: ReadRecord) => void done.push(one.offset) };
    const item = new TopicItem<ReceivedEvent>({} as ReceivedEvent, record, reader);
    item.settledBy = { durable: (one) => (one as TopicItem<unknown>).completed() };
    return item;
  };
  const isDirect = (task: DeliveryTask) => direct.taskOf(result(task)) !== undefined;
  /** Hands over the task of a new event. */
  const handOver = (task = aTask(), bytes?: number) => {
    direct.handOver(task, event(bytes), [TRACE]);
    const item = given.at(-1) as DirectItem;
    item.settledBy = { durable: (one) => (one as DirectItem).completed() };
    return item;
  };
  return { clock, state, direct, given, done, traced, handOver, isDirect };
}

describe('a first attempt goes to the sender of this process', () => {
  it('alone, and its event is done when results and trace are durable, in either order', () => {
    const { direct, given, done, handOver } = setUp();
    const [first, second] = [handOver(), handOver()];
    expect(given).toEqual([first, second]);
    for (const item of [first, second]) direct.writeTrace(item);
    first.traceWritten();
    second.durable();
    expect(done).toEqual([]);
    first.durable();
    second.traceWritten();
    expect(done).toEqual([0, 1]);
  });

  it('unless the event has several tasks, or none', () => {
    const { direct } = setUp();
    expect(direct.taskOf(result(aTask(), aTask({ endpointId: 'endpoint-2' })))).toBeUndefined();
    expect(direct.taskOf(result())).toBeUndefined();
    expect(direct.taskOf({ kind: 'repeated' })).toBeUndefined();
  });

  it('unless its endpoint is slow, or its results cannot be written', () => {
    const { state, isDirect } = setUp();
    state.isPrompt = false;
    expect(isDirect(aTask())).toBe(false);
    state.isPrompt = true;
    state.mayBegin = false;
    expect(isDirect(aTask({ endpointId: 'endpoint-2' }))).toBe(false);
    state.mayBegin = true;
    expect(isDirect(aTask({ endpointId: 'endpoint-3' }))).toBe(true);
  });

  it('not before those of its endpoint that went by the topic', () => {
    const { clock, state, isDirect } = setUp();
    state.isPrompt = false;
    expect(isDirect(aTask())).toBe(false);
    state.isPrompt = true;
    expect(isDirect(aTask())).toBe(false);
    expect(isDirect(aTask({ endpointId: 'endpoint-2' }))).toBe(true);
    clock.advance(5001);
    expect(isDirect(aTask())).toBe(true);
    state.onTopic = clock.now();
    expect(isDirect(aTask({ endpointId: 'endpoint-4' }))).toBe(false);
  });

  it('while few events are open, and their bytes are few', () => {
    const { direct, given, handOver, isDirect } = setUp();
    for (let at = 0; at < 11; at += 1) handOver(aTask(), 100 * 1024);
    expect(direct.mayRoute()).toBe(false);
    expect(isDirect(aTask({ endpointId: 'a' }))).toBe(false);
    for (const item of given.splice(0)) item.completed();
    for (let at = 0; at < 1000; at += 1) handOver(aTask(), 1);
    expect(isDirect(aTask({ endpointId: 'b' }))).toBe(false);
    given[0]?.completed();
    expect(isDirect(aTask({ endpointId: 'c' }))).toBe(true);
  });
});

describe('the trace of a routing', () => {
  it('waits for the results of its attempt, half a second at the most', () => {
    const { clock, direct, traced, handOver } = setUp();
    const [quick, slow] = [handOver(), handOver()];
    clock.advance(300);
    const late = handOver();
    expect(traced).toEqual([]);
    direct.writeTrace(quick);
    expect(traced).toEqual([quick]);
    clock.advance(199);
    expect(traced).toEqual([quick]);
    clock.advance(1);
    expect(traced).toEqual([quick, slow]);
    clock.advance(300);
    expect(traced).toEqual([quick, slow, late]);
    direct.writeTrace(slow);
    expect(traced).toHaveLength(3);
  });

  it('is left to the next owner of the partition when the attempt is', () => {
    const { clock, traced, handOver } = setUp();
    handOver().lost();
    clock.advance(10_000);
    expect(traced).toEqual([]);
  });
});

describe('events wait for a sender that is full', () => {
  it('for two seconds, then others may take their tasks', () => {
    const { clock, state, direct } = setUp();
    expect(direct.mayRoute()).toBe(true);
    state.isFull = true;
    expect(direct.mayRoute()).toBe(false);
    clock.advance(1999);
    expect(direct.mayRoute()).toBe(false);
    expect(state.pumped).toBe(0);
    clock.advance(1);
    expect(state.pumped).toBe(1);
    expect(direct.mayRoute()).toBe(true);
  });

  it('and go on as soon as it has room, however long they have waited', () => {
    const { clock, state, direct } = setUp();
    for (let round = 1; round < 5; round += 1) {
      state.isFull = true;
      expect(direct.mayRoute()).toBe(false);
      direct.progressed();
      expect(state.pumped).toBe(round - 1);
      clock.advance(1500);
      state.isFull = false;
      direct.progressed();
      expect(state.pumped).toBe(round);
    }
  });
});
