/**
 * The directory on Kafka: a follower has the whole table before it is used, then every change in order, and knows how
 * old its knowledge is; a late change of a dead process does not outlive a newer one.
 */
import { randomBytes } from 'node:crypto';
// A default import: the enum is no named export to Node's reading of the package.
import kafkajs from 'kafkajs';
import { expect, it } from 'vitest';
import { REFUSED } from '../../../../services/broker/broker.ts';
import { Directory, type DirectoryChange, directoryKey } from '../../../../services/domain/directory.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWithKafka } from '../../../support/kafka/suites.ts';
import { openTables, type Tables } from '../../../support/kafka/tables.ts';
import { idOf, lineOf, under } from '../../../support/kafka/wire-format.ts';
import { endpointChange, merchantChange } from '../../../support/records/broker-records.ts';

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
    await eventually('the later changes have arrived', () => later.length >= changes.length);
    expect(Date.now() - acknowledgedAt).toBeLessThan(1_000);
    expect(later).toEqual(changes);
    await follower.close();
    await tables.directory.publish([merchantChange('m', 999)]);
    expect(later).toHaveLength(changes.length);
  });

  it('has an empty table at once when its topic is empty', async () => {
    const tables = await openTables(brokers);
    const follower = await tables.directory.follow(() => expect.unreachable(), FOLLOWING);
    expect(follower.stalenessMs()).toBeLessThan(2_000);
  });

  it('publishes the newest change again after an older one came late, unless another process already did', async () => {
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
    await eventually(
      'the change that an older one followed is published again',
      async () => (await lying()).length > 5,
    );
    expect(await lying()).toEqual([5, 4, 5, 7, 6, 7]);
    await put(tables, merchantChange('mended', 3, 'late'));
    await eventually('the newest change is published again', async () => (await lying()).length > 7);
    const marker = merchantChange('marker', 1);
    await put(tables, marker);
    await eventually('the marker has arrived', () => directory.merchant('marker'));
    expect(await lying()).toEqual([5, 4, 5, 7, 6, 7, 3, 5, 1]);
    expect(directory.merchant('mended')?.name).toBe('name 5');
  });

  it('publishes the accepted change again after a refused one took its place', async () => {
    const tables = await openTables(brokers);
    const nameOf = ({ value }: DirectoryChange) => (value && 'name' in value ? value.name : undefined);
    const isForged = (change: DirectoryChange) => nameOf(change) === 'forged';
    const names = async () => {
      const content = await tables.contentOf(tables.topics.directory);
      return content.map(({ value }) => nameOf(tables.records.decode('directory', value as Buffer)));
    };
    await tables.directory.follow((change) => (isForged(change) ? REFUSED : undefined), { republish: true });
    await put(tables, merchantChange('m', 5, 'good'));
    for (const version of [5, 4, 9]) await put(tables, merchantChange('m', version, 'forged'));
    await eventually('the good one is the last of its version', async () =>
      (await names()).includes('good', 2),
    );
    await put(tables, merchantChange('m', 3, 'late'));
    await eventually('and after a late one', async () => (await names()).at(-1) === 'good');
    expect((await names()).filter((name) => name === 'forged')).toHaveLength(3);
  });

  it('leaves out records that cannot be read, and logs where they are', async () => {
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

  it('waits for the schema of a record, and keeps the order', async () => {
    const tables = await openTables(brokers);
    const written = tables.records.encode('directory', merchantChange('b', 1));
    tables.fake.schemas.set(4711, tables.fake.schemas.get(idOf(written)) ?? '');
    tables.fake.mood = 'error';
    await put(tables, merchantChange('a', 1));
    await write(tables, 'merchant:b', under(4711, written));
    await put(tables, merchantChange('c', 1));
    const applied: string[] = [];
    const following = tables.directory.follow(({ id }) => applied.push(id), FOLLOWING);
    const asked = () => tables.fake.requests.filter((path) => path.endsWith('/4711')).length;
    await eventually('the registry was asked a second time', () => asked() >= 2);
    expect(applied).toEqual(['a']);
    tables.fake.mood = 'well';
    await following;
    expect(applied).toEqual(['a', 'b', 'c']);
  });

  it('grows stale while brokers are away, then continues where it was', async () => {
    const tables = await openTables(brokers);
    await tables.directory.publish([merchantChange('a', 1), merchantChange('b', 1)]);
    const applied: string[] = [];
    const follower = await tables.fragile.follow(({ id }) => applied.push(id), FOLLOWING);
    tables.line.set('cut');
    await tables.directory.publish([merchantChange('c', 1)]);
    await eventually('the directory is stale', () => follower.stalenessMs() > 4_000);
    expect(applied).toEqual(['a', 'b']);
    tables.line.set('whole');
    await eventually('the directory is fresh', () => follower.stalenessMs() < 2_000);
    expect(applied).toEqual(['a', 'b', 'c']);
  });

  it('steps over the remains of a compacted segment', { timeout: 120_000 }, async () => {
    const tables = await openTables(brokers);
    await writeHole(tables);
    // Whatever does not step over it gets nothing.
    const reading = () =>
      tables.contentOf(tables.topics.directory).then(
        () => false,
        () => true,
      );
    await eventually('the segment is compacted', reading, 60_000);
    const applied: number[] = [];
    await tables.directory.follow(({ version }) => applied.push(version), FOLLOWING);
    expect(applied).toEqual([1, 2]);
    expect(tables.lines.filter(({ msg }) => msg.endsWith('skipping one offset'))).toHaveLength(3);
  });

  it.each(['cut', 'silent'] as const)('closes within seconds when the connection is %s', async (state) => {
    const tables = await openTables(brokers);
    const follower = await tables.fragile.follow(() => {}, FOLLOWING);
    tables.line.set(state);
    const waiting = lineOf(tables.fragile.follow(() => {}, FOLLOWING));
    await eventually('the directory is stale', () => follower.stalenessMs() > 1_500);
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
