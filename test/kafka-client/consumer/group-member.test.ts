/**
 * Guarantee: a client that is given up while it joins a consumer group is no member of it in the end. Otherwise its
 * partitions would be read by no process for as long as this one lives.
 */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { GroupMember } from '../../../services/kafka-client/consumer/group-member.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { type FakeConsumer, kafkaOfFakes } from '../../support/kafka/fake-consumers.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const TOPIC = 'deliver';
const log = createLogger('silent');
/** After so long without a heartbeat a client is made anew; milliseconds. */
const SILENT_MS = 60_000;

const deps = {
  log,
  topic: TOPIC,
  groupId: 'group',
  maxWaitMs: 100,
  bytesPerPartition: 1000,
  rebalancing: () => {},
  fetching: () => {},
  read: () => {},
  passed: () => {},
  crashed: () => {},
  revived: () => {},
};

function aMember() {
  const clock = new SimulatedClock();
  const { kafka, consumers } = kafkaOfFakes();
  const assigned: (readonly number[])[] = [];
  const member = new GroupMember({
    ...deps,
    kafka,
    clock,
    joined: (partitions) => assigned.push(partitions),
  });
  return { clock, consumers, assigned, member };
}

const firstOf = ([first]: readonly FakeConsumer[]): FakeConsumer => {
  if (!first) throw new Error('no consumer was made');
  return first;
};

describe('a member of a consumer group', () => {
  it('that is ended while it joins leaves once it has joined', async () => {
    const { consumers, assigned, member } = aMember();
    const starting = member.start();
    await turn();
    const client = firstOf(consumers);
    expect(client.isJoining).toBe(true);
    await member.end();
    client.join(TOPIC, [0, 1]);
    await starting;
    expect(client.isMember).toBe(false);
    expect(assigned).toEqual([]);
  });

  it('that was silent while it joined leaves once it has joined, and another takes its place', async () => {
    const { clock, consumers, assigned, member } = aMember();
    void member.start();
    await turn();
    for (let waited = 0; waited < SILENT_MS; waited += 1000) {
      clock.advance(1000);
      await turn();
    }
    expect(consumers.map(({ isJoining }) => isJoining)).toEqual([true, true]);
    for (const [index, client] of consumers.entries()) client.join(TOPIC, [index]);
    await turn();
    expect(consumers.map(({ isMember }) => isMember)).toEqual([false, true]);
    expect(assigned).toEqual([[1]]);
    await member.end();
    expect(consumers.map(({ isMember }) => isMember)).toEqual([false, false]);
  });

  it('begins nothing new while a rebalance is under way, unless that takes as long as a dead member', async () => {
    const { clock, consumers, member } = aMember();
    void member.start();
    await turn();
    const client = firstOf(consumers);
    client.join(TOPIC, [0]);
    expect(member.isTrusted).toBe(true);
    client.emit('REBALANCING', {});
    clock.advance(1000);
    await turn();
    expect(member.isTrusted).toBe(false);
    client.emit('GROUP_JOIN', { memberId: 'member', memberAssignment: { [TOPIC]: [0] } });
    expect(member.isTrusted).toBe(true);
    client.emit('REBALANCING', {});
    clock.advance(2000);
    await turn();
    expect(member.isTrusted).toBe(true);
    await member.end();
  });

  it('counts an answer from when it was asked for, so that one read after a pause proves nothing', async () => {
    const { clock, consumers, member } = aMember();
    void member.start();
    await turn();
    const client = firstOf(consumers);
    client.join(TOPIC, [0]);
    const heard = (afterMs: number) => {
      client.emit('REQUEST', { apiName: 'Heartbeat', duration: afterMs });
      client.emit('HEARTBEAT', {});
    };
    clock.advance(40_000);
    heard(40_000);
    expect(member.isTrusted).toBe(false);
    heard(20);
    expect(member.isTrusted).toBe(true);
    clock.advance(40_000);
    client.emit('REQUEST', { apiName: 'SyncGroup', duration: 40_000 });
    client.emit('GROUP_JOIN', { memberId: 'member', memberAssignment: { [TOPIC]: [0] } });
    expect(member.isTrusted).toBe(false);
    heard(20);
    expect(member.isTrusted).toBe(true);
    await member.end();
  });

  it('counts as a member from its first join, with or without partitions, until it is silent or made anew', async () => {
    const { clock, consumers, member } = aMember();
    void member.start();
    await turn();
    expect(member.isMember).toBe(false);
    firstOf(consumers).join(TOPIC, []);
    expect(member.isMember).toBe(true);
    // As long as others take to come at a rebalance.
    clock.advance(9000);
    expect(member.isMember).toBe(true);
    clock.advance(1000);
    expect(member.isMember).toBe(false);
    firstOf(consumers).emit('HEARTBEAT', {});
    expect(member.isMember).toBe(true);
    firstOf(consumers).emit('CRASH', { error: new Error('planted') });
    expect(member.isMember).toBe(false);
    await turn();
    clock.advance(2000);
    await turn();
    expect(member.isMember).toBe(false);
    consumers.at(-1)?.join(TOPIC, [0]);
    expect([consumers.length, member.isMember]).toEqual([2, true]);
    await member.end();
    expect(member.isMember).toBe(false);
  });

  it('passes on to its next client, at the join, a pause that came while it had none', async () => {
    const { clock, consumers, member } = aMember();
    const starting = member.start();
    await turn();
    const client = firstOf(consumers);
    client.join(TOPIC, [0]);
    await starting;
    member.pause(0);
    expect(client.paused).toEqual([0]);
    await client.disconnect();
    client.emit('CRASH', { error: new Error('planted') });
    for (const told of [() => member.pause(0), () => member.resume(0), () => member.seek(0, 1)])
      expect(told).not.toThrow();
    clock.advance(SILENT_MS);
    await member.end();
  });
});

await describeWithKafka('a consumer group on Kafka', ({ brokers }) => {
  it('is empty after its last member was ended while it joined', { timeout: 60_000 }, async () => {
    const topic = `${freshPrefix()}${TOPIC}`;
    const kafka = new Kafka({ brokers, clientId: 'test', logLevel: logLevel.NOTHING });
    const admin = kafka.admin();
    await admin.connect();
    // The broker may know the topic a moment later: the producer asks again.
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: false });
    const producer = kafka.producer();
    await producer.connect();
    await producer.send({ topic, messages: [{ value: 'one' }] });
    // A handler that does not return keeps the group from rebalancing until its session is over.
    const dead = kafka.consumer({ groupId: topic, sessionTimeout: 6000, heartbeatInterval: 1000 });
    let release = () => {};
    const isBusy = new Promise<void>((busy) => {
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      void dead
        .connect()
        .then(() => dead.subscribe({ topic, fromBeginning: true }))
        .then(() =>
          dead.run({
            eachMessage: () => {
              busy();
              return held;
            },
          }),
        );
    });
    await isBusy;
    const options = { ...deps, topic, groupId: topic, kafka, clock: systemClock(), joined: () => {} };
    const member = new GroupMember(options);
    const starting = member.start();
    await sleep(1500);
    await member.end();
    await starting;
    release();
    await dead.disconnect();
    const members = async () => (await admin.describeGroups([topic])).groups[0]?.members.length;
    await eventually('the group has no members', async () => (await members()) === 0, 5000);
    await sleep(2000);
    expect(await members()).toBe(0);
    await admin.deleteTopics({ topics: [topic] });
    await Promise.all([producer.disconnect(), admin.disconnect()]);
  });
});
