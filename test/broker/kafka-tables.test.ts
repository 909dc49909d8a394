/**
 * The directory on Kafka: a follower has the whole table before it is used, then every change in order, and knows for how
 * long it cannot be sure to have the newest; a late change of a dead process does not outlive the newer one. The shelves on
 * Kafka: oldest first over all partitions, and what is requeued comes back as it arrived, once.
 */
import { randomBytes, randomUUID } from 'node:crypto';
// A default import: the enum is no named export to Node's reading of the package.
import kafkajs, { type Kafka } from 'kafkajs';
import { expect, it } from 'vitest';
import { Directory, type DirectoryChange, directoryKey } from '../../services/domain/directory.ts';
import { aTask, deadLetter, endpointChange, merchantChange, quarantined } from '../support/broker-records.ts';
import { eventOf } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { describeWithKafka } from '../support/kafka.ts';
import { openTables, type Tables } from '../support/kafka-tables.ts';
import { idOf, lineOf, under } from '../support/wire-format.ts';

const FOLLOWING = { republish: false };
const ERROR = 50;

/** Writes to the directory whatever is given, as a process with other ideas would. */
const write = ({ sender, topics }: Tables, key: string, value: Buffer | null) =>
  sender.send({ topic: topics.directory, partition: 0, key: Buffer.from(key), value });

const put = (tables: Tables, change: DirectoryChange) =>
  write(tables, directoryKey(change), tables.records.encode('directory', change));

await describeWithKafka('the directory on Kafka', ({ brokers }) => {
  it('gives the whole table before following resolves, then every change in order', async () => {
    const tables = await openTables(brokers);
    const many = Array.from({ length: 2_500 }, (_, index) => endpointChange(`endpoint-${index}`, 1));
    await tables.directory.publish(many);
    await tables.directory.publish([merchantChange('m', 1), merchantChange('m', 2)]);
    const directory = new Directory();
    const later: DirectoryChange[] = [];
    let isLater = false;
    const follower = await tables.directory.follow((change) => {
      directory.apply(change);
      if (isLater) later.push(change);
    }, FOLLOWING);
    isLater = true;
    expect(directory.endpointCount).toBe(2_500);
    expect(directory.endpoint('endpoint-2499')).toEqual(many[2499]?.value);
    expect(directory.merchant('m')?.version).toBe(2);
    expect(follower.stalenessMs()).toBeLessThan(5_000);
    const changes = Array.from({ length: 300 }, (_, index) => merchantChange('m', 3 + index));
    await tables.directory.publish(changes);
    const acknowledgedAt = Date.now();
    await eventually('the later changes', () => later.length >= changes.length);
    expect(Date.now() - acknowledgedAt).toBeLessThan(1_000);
    expect(later).toEqual(changes);
    await follower.close();
    await tables.directory.publish([merchantChange('m', 999)]);
    expect(later).toHaveLength(changes.length);
  });

  it('has an empty table at once', async () => {
    const tables = await openTables(brokers);
    const follower = await tables.directory.follow(() => expect.unreachable(), FOLLOWING);
    expect(follower.stalenessMs()).toBeLessThan(2_000);
  });

  it('puts the newest change back on top of one that came late, and only where nobody did so yet', async () => {
    const tables = await openTables(brokers);
    const lying = async () => {
      const content = await tables.contentOf(tables.topics.directory);
      return content.map(({ value }) => tables.records.decode('directory', value as Buffer).version);
    };
    for (const version of [5, 4, 5]) await put(tables, merchantChange('mended', version));
    for (const version of [7, 6]) await put(tables, merchantChange('covered', version));
    await tables.directory.follow(() => {}, FOLLOWING);
    expect(await lying()).toEqual([5, 4, 5, 7, 6]);
    const directory = new Directory();
    await tables.directory.follow((change) => directory.apply(change), { republish: true });
    await eventually('the covered one', async () => (await lying()).length > 5);
    expect(await lying()).toEqual([5, 4, 5, 7, 6, 7]);
    await put(tables, merchantChange('mended', 3, 'late'));
    await eventually('the other one', async () => (await lying()).length > 7);
    const marker = merchantChange('marker', 1);
    await put(tables, marker);
    await eventually('the marker', () => directory.merchant('marker'));
    expect(await lying()).toEqual([5, 4, 5, 7, 6, 7, 3, 5, 1]);
    expect(directory.merchant('mended')?.name).toBe('name 5');
  });

  it('leaves out what cannot be read, and says where it lies', async () => {
    const tables = await openTables(brokers);
    await put(tables, merchantChange('a', 1));
    await write(tables, 'merchant:b', Buffer.from('garbage'));
    await write(tables, 'merchant:c', null);
    await put(tables, merchantChange('d', 1));
    const applied: string[] = [];
    await tables.directory.follow(({ id }) => applied.push(id), FOLLOWING);
    expect(applied).toEqual(['a', 'd']);
    expect(tables.lines.filter(({ level }) => level === ERROR)).toMatchObject([{ offset: 1 }]);
  });

  it('waits for the schema of a record, in order', async () => {
    const tables = await openTables(brokers);
    const written = tables.records.encode('directory', merchantChange('b', 1));
    tables.fake.schemas.set(4711, tables.fake.schemas.get(idOf(written)) ?? '');
    tables.fake.mood = 'error';
    await put(tables, merchantChange('a', 1));
    await write(tables, 'merchant:b', under(4711, written));
    await put(tables, merchantChange('c', 1));
    const applied: string[] = [];
    const following = tables.directory.follow(({ id }) => applied.push(id), FOLLOWING);
    const asked = () => tables.fake.asked.filter((path) => path.endsWith('/4711')).length;
    await eventually('the second question', () => asked() >= 2);
    expect(applied).toEqual(['a']);
    tables.fake.mood = 'well';
    await following;
    expect(applied).toEqual(['a', 'b', 'c']);
  });

  it('grows stale while brokers are away, then goes on where it was', async () => {
    const tables = await openTables(brokers);
    await tables.directory.publish([merchantChange('a', 1), merchantChange('b', 1)]);
    const applied: string[] = [];
    const follower = await tables.fragile.follow(({ id }) => applied.push(id), FOLLOWING);
    tables.line.set('cut');
    await tables.directory.publish([merchantChange('c', 1)]);
    await eventually('staleness', () => follower.stalenessMs() > 4_000);
    expect(applied).toEqual(['a', 'b']);
    tables.line.set('whole');
    await eventually('freshness', () => follower.stalenessMs() < 2_000);
    expect(applied).toEqual(['a', 'b', 'c']);
  });

  it('steps over what compaction left of a segment', { timeout: 120_000 }, async () => {
    const tables = await openTables(brokers);
    await writeHole(tables);
    // Whatever does not step over it gets nothing.
    const reading = () =>
      tables.contentOf(tables.topics.directory).then(
        () => false,
        () => true,
      );
    await eventually('the compaction', reading, 60_000);
    const applied: number[] = [];
    await tables.directory.follow(({ version }) => applied.push(version), FOLLOWING);
    expect(applied).toEqual([1, 2]);
    expect(tables.lines.filter(({ msg }) => msg.endsWith('stepping on'))).toHaveLength(3);
  });

  it.each(['cut', 'silent'] as const)('closes within seconds when the line is %s', async (state) => {
    const tables = await openTables(brokers);
    const follower = await tables.fragile.follow(() => {}, FOLLOWING);
    tables.line.set(state);
    const waiting = lineOf(tables.fragile.follow(() => {}, FOLLOWING));
    await eventually('staleness', () => follower.stalenessMs() > 1_500);
    const begun = Date.now();
    await Promise.all([follower.close(), tables.fragile.close()]);
    expect(Date.now() - begun).toBeLessThan(3_000);
    expect(await waiting).toBe('the broker is closed');
    expect(await lineOf(tables.fragile.follow(() => {}, FOLLOWING))).toBe('the broker is closed');
  });
});

/** Settings under which a segment ends soon and is compacted by itself. */
const SOON_COMPACTED = [
  ['cleanup.policy', 'compact'],
  ['segment.ms', '300'],
  ['segment.bytes', '1048576'],
  ['min.cleanable.dirty.ratio', '0.001'],
] as const;

/** A segment that compaction leaves with an empty batch, and two changes after it. */
async function writeHole(tables: Tables): Promise<void> {
  const { admins, directory, kafka, topics } = tables;
  const topic = topics.directory;
  const configEntries = SOON_COMPACTED.map(([name, value]) => ({ name, value }));
  const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configEntries }];
  await admins.ask((admin) => admin.alterConfigs({ validateOnly: false, resources }));
  const keys = ['k1', 'k2', 'k3'];
  // Too large for two of them to be merged into one segment. Only of an idempotent producer an empty batch is kept.
  const large = () => keys.map((key) => ({ key, value: randomBytes(250_000) }));
  const idempotent = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  await idempotent.connect();
  await idempotent.send({ topic, messages: large() });
  await idempotent.disconnect();
  await segmentEnded();
  await Promise.all(large().map(({ key, value }) => write(tables, key, value)));
  for (const version of [1, 2]) {
    await segmentEnded();
    await directory.publish([merchantChange('m', version)]);
  }
}

const segmentEnded = () => new Promise((resolve) => setTimeout(resolve, 500));

/** A record for the quarantine, told apart by its event id, whose bytes are an event. */
function shelved(tables: Tables, entityId = randomUUID()) {
  const event = { ...eventOf('merchant-1', entityId), eventId: randomUUID() };
  return { event, record: quarantined(event, tables.records.encodeEvent(event)) };
}

await describeWithKafka('the shelves on Kafka', ({ brokers }) => {
  it('lists dead letters oldest first over all partitions, page by page', async () => {
    const tables = await openTables(brokers);
    const tasks = Array.from({ length: 7 }, () => aTask());
    for (const [index, task] of tasks.entries()) {
      const value = tables.records.encode('deadLetter', deadLetter(task));
      const to = { topic: tables.topics.dead, partition: index % 3, key: null };
      const { timestamp } = await tables.sender.send({ ...to, value });
      await eventually('the next millisecond', () => Date.now() > timestamp);
    }
    const shelf = tables.deadLettersOn(tables.reader);
    const first = await shelf.list({ limit: 3 });
    const second = await shelf.list({ limit: 3, after: first.at(-1)?.position ?? '' });
    const third = await shelf.list({ limit: 3, after: second.at(-1)?.position ?? '' });
    expect([first.length, second.length, third.length]).toEqual([3, 3, 1]);
    expect([...first, ...second, ...third].map(({ record }) => record)).toEqual(tasks.map(deadLetter));
    expect(await shelf.list({ limit: 3, after: third.at(-1)?.position ?? '' })).toEqual([]);
    expect(await lineOf(shelf.list({ limit: 3, after: '7' }))).toBe('"7" is not a position of this shelf');
  });

  it('lists one dead letter of a delivery, however often crashes wrote it and however pages are cut', async () => {
    const tables = await openTables(brokers);
    const tasks = Array.from({ length: 24 }, () => aTask());
    const put = async (index: number) => {
      const task = tasks[index];
      if (!task) throw new Error(`there is no task ${index}`);
      const value = tables.records.encode('deadLetter', deadLetter(task));
      const to = { topic: tables.topics.dead, partition: index % 3, key: Buffer.from(task.deliveryId) };
      const { timestamp } = await tables.sender.send({ ...to, value });
      await eventually('the next millisecond', () => Date.now() > timestamp);
    };
    for (const index of tasks.keys()) await put(index);
    // More copies than a page keeps in reserve, some of them twice.
    for (const index of [...Array.from({ length: 20 }, (_, each) => each), 0, 1, 2]) await put(index);
    const shelf = tables.deadLettersOn(tables.reader);
    const listed: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await shelf.list({ limit: 3, ...(after === undefined ? {} : { after }) });
      listed.push(...page.map(({ record }) => record.task.deliveryId));
      after = page.at(-1)?.position;
      if (after === undefined) break;
    }
    const order = [20, 21, 22, 23, ...Array.from({ length: 17 }, (_, each) => each + 3), 0, 1, 2];
    expect(listed).toEqual(order.map((index) => tasks[index]?.deliveryId));
  });

  it('requeues an event as it arrived, once, under the key of its entity', async () => {
    const tables = await openTables(brokers);
    const shelf = tables.quarantineOn(tables.reader);
    const { event, record } = shelved(tables);
    const garbage = { ...quarantined(event, Buffer.from([9, 0, 255])), eventId: null };
    for (const one of [record, garbage, shelved(tables).record]) await shelf.put(one);
    const list = await shelf.list({ limit: 10 });
    const [first = '', second = '', third = ''] = list.map(({ position }) => position);
    expect(list.slice(0, 2).map((one) => one.record)).toEqual(
      [record, garbage].map((one) => ({ ...one, bytes: expect.anything() })),
    );
    expect(await shelf.requeue([second, first, first, '999999', `${first}0`, '1-2-3'])).toBe(2);
    const content = await tables.contentOf(tables.topics.events);
    const back = content.map(({ key, value }) => [key?.toString(), value]);
    expect(back).toHaveLength(2);
    expect(back).toContainEqual([event.entityId, Buffer.from(record.bytes)]);
    expect(back).toContainEqual(['', Buffer.from([9, 0, 255])]);
    const ours = content.find(({ key }) => key?.length);
    expect(ours?.partition).toBe(tables.sender.partitionOf(tables.topics.events, event.entityId));
    expect((await shelf.list({ limit: 10 })).map(({ position }) => position)).toEqual([third]);
    expect(await shelf.requeue([first, second])).toBe(0);
    expect(await tables.contentOf(tables.topics.events)).toHaveLength(2);
  });

  it('lists full pages however many were taken off before', async () => {
    const tables = await openTables(brokers);
    const shelf = tables.quarantineOn(tables.reader);
    const ids: (string | null)[] = [];
    for (let index = 0; index < 30; index += 1) {
      const { record } = shelved(tables);
      ids.push(record.eventId);
      await shelf.put(record);
    }
    const positions = (await shelf.list({ limit: 30 })).map(({ position }) => position);
    expect(await shelf.requeue(positions.slice(0, 25))).toBe(25);
    const page = await shelf.list({ limit: 2 });
    expect(page.map(({ record }) => record.eventId)).toEqual(ids.slice(25, 27));
    const after = await shelf.list({ limit: 100, after: positions[3] ?? '' });
    expect(after.map(({ record }) => record.eventId)).toEqual(ids.slice(25));
  });

  it('leaves out what cannot be read, without shortening a page', async () => {
    const tables = await openTables(brokers);
    const { quarantine: topic } = tables.topics;
    const shelf = tables.quarantineOn(tables.reader);
    for (const key of [null, Buffer.from('k')]) {
      await tables.sender.send({ topic, partition: 0, key, value: Buffer.from('garbage') });
    }
    const { record } = shelved(tables);
    await shelf.put(record);
    const list = await shelf.list({ limit: 1 });
    expect(list.map((one) => one.record.eventId)).toEqual([record.eventId]);
    expect(tables.lines.filter(({ level }) => level === ERROR)).toHaveLength(2);
  });

  it('asks for the bounds of an empty shelf, and nothing else', async () => {
    const tables = await openTables(brokers);
    const noConsumer = { consumer: () => expect.unreachable() } as unknown as Kafka;
    const shelf = tables.quarantineOn(tables.readerOn(noConsumer));
    expect(await shelf.list({ limit: 10 })).toEqual([]);
    expect(await shelf.requeue(['1-2-3', 'x'])).toBe(0);
    const begun = Date.now();
    for (let index = 0; index < 10; index += 1) await shelf.list({ limit: 10 });
    expect(Date.now() - begun).toBeLessThan(1_000);
  });

  it.each([
    ['cut', 5_000],
    ['silent', 12_000],
  ] as const)('gives up, in one line, when the line is %s', async (state, withinMs) => {
    const tables = await openTables(brokers);
    await tables.quarantineOn(tables.reader).put(shelved(tables).record);
    const broken = tables.readerOn(tables.brokenKafka);
    tables.line.set(state);
    const begun = Date.now();
    expect(await lineOf(tables.quarantineOn(broken).list({ limit: 1 }))).toMatch(
      /quarantine could not be read/,
    );
    expect(Date.now() - begun).toBeLessThan(withinMs);
    await broken.close();
  });
});
