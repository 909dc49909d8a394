import { expect, it } from 'vitest';
import { Directory, type DirectoryChange } from '../../services/domain/directory.ts';
import { anEvent, endpointChange, merchantChange, quarantined } from '../support/records/broker-records.ts';
import { type GiveBench, stopped } from './broker-bench.ts';

export function recordGuarantees(bench: GiveBench): void {
  it('gives a follower the whole table before it resolves, then every change in order', async () => {
    let broker = await bench().open();
    const many = Array.from({ length: 2_500 }, (_, index) => endpointChange(`endpoint-${index}`, 1));
    for (let at = 0; at < many.length; at += 500) await broker.publishDirectory(many.slice(at, at + 500));
    await broker.publishDirectory([merchantChange('m', 1), merchantChange('m', 2)]);
    broker = await bench().crash(broker);
    const directory = new Directory();
    const applied: DirectoryChange[] = [];
    const follower = await broker.followDirectory((change) => {
      if (directory.apply(change)) applied.push(change);
    });
    expect(directory.endpointCount).toBe(many.length);
    expect(directory.merchant('m')).toEqual(merchantChange('m', 2).value);
    expect(directory.endpoint('endpoint-7')).toEqual(many[7]?.value);
    expect(follower.stalenessMs()).toBeLessThan(5_000);
    applied.length = 0;
    const later = [3, 4, 5].map((version) => merchantChange('m', version));
    for (const change of later) await broker.publishDirectory([change]);
    await bench().eventually('the later changes', () => applied.length === later.length);
    expect(applied).toEqual(later);
    await follower.close();
  });

  it('misses no change that is published while the table is read', async () => {
    const broker = await bench().open();
    const table = Array.from({ length: 3_000 }, (_, index) => merchantChange(`m-${index}`, 1));
    for (let at = 0; at < table.length; at += 500) await broker.publishDirectory(table.slice(at, at + 500));
    const directory = new Directory();
    const following = broker.followDirectory((change) => directory.apply(change));
    await broker.publishDirectory(table.map(({ id }) => merchantChange(id, 2)));
    const follower = await following;
    await bench().eventually('version 2 of all', () =>
      table.every(({ id }) => directory.merchant(id)?.version === 2),
    );
    await follower.close();
  });

  it('lets no lower version through, so that a delete stays deleted', async () => {
    let broker = await bench().open();
    const follow = async () => {
      const directory = new Directory();
      await broker.followDirectory((change) => directory.apply(change));
      return directory;
    };
    const live = await follow();
    await broker.publishDirectory([merchantChange('kept', 5), merchantChange('gone', 5)]);
    await broker.publishDirectory([merchantChange('kept', 4, 'late'), merchantChange('gone', 6, null)]);
    await broker.publishDirectory([merchantChange('gone', 5, 'late')]);
    const isCorrect = (directory: Directory) =>
      directory.merchant('kept')?.name === 'name 5' && directory.merchant('gone') === undefined;
    await bench().eventually('the end state', () => isCorrect(live));
    broker = await bench().crash(broker);
    await broker.publishDirectory([
      merchantChange('gone', 4, 'later still'),
      merchantChange('kept', 5, 'again'),
    ]);
    const after = await follow();
    expect(isCorrect(after)).toBe(true);
    await broker.publishDirectory([merchantChange('gone', 5, 'late'), merchantChange('marker', 1)]);
    await bench().eventually('the marker', () => after.merchant('marker'));
    expect(isCorrect(after)).toBe(true);
  });

  it('lists the quarantine oldest first, page by page', async () => {
    const broker = await bench().open();
    // All of one entity, because order is guaranteed only within an entity.
    const entityId = '22222222-2222-4222-8222-222222222222';
    const events = Array.from({ length: 5 }, () => anEvent({ entityId }));
    await broker.publishEvents(events);
    const consumer = await broker.events.consume(
      (input) => ({
        kind: 'quarantined',
        record: quarantined(input.decoded.ok ? input.decoded.event : anEvent(), input),
      }),
      { inFlightMax: 1 },
    );
    await bench().eventually('all stored', () => broker.status().backlog.events === 0);
    await stopped(consumer);
    const page = await broker.quarantine.list({ limit: 2 });
    const rest = await broker.quarantine.list({ limit: 10, after: page.at(-1)?.position ?? '' });
    expect([...page, ...rest].map(({ record }) => record.eventId)).toEqual(
      events.map(({ eventId }) => eventId),
    );
    await broker.quarantine.forget(page.map(({ position }) => position));
    const left = await broker.quarantine.list({ limit: 9 });
    expect(left).toHaveLength(broker.capabilities.hasRetention ? 5 : 3);
  });

  it('shows a quarantined event in clear text, and puts nothing back in a dry run', async () => {
    const broker = await bench().open();
    const event = anEvent();
    await broker.publishEvents([event]);
    const seen: unknown[] = [];
    await broker.events.consume(
      (input) => {
        seen.push(input);
        return { kind: 'quarantined', record: quarantined(event, input) };
      },
      { inFlightMax: 1 },
    );
    const [stored] = await bench().eventually('the record is stored', async () => {
      const list = await broker.quarantine.list({ limit: 10 });
      return list.length === 1 ? list : undefined;
    });
    if (stored === undefined) throw new Error('nothing is stored');
    const { eventId, merchantId, type, data } = event;
    const clear = await broker.quarantine.clearText(stored.record);
    expect(clear).toMatchObject({
      kind: 'event',
      document: { type, header: { eventId, merchantId }, data },
      problems: [],
      event: { eventId, data },
    });
    const broken = { ...stored.record, bytes: stored.record.bytes.subarray(0, 20) };
    expect(await broker.quarantine.clearText(broken)).toEqual({
      kind: 'unreadable',
      why: expect.any(String),
    });
    const dryRun = (stillRefused: () => Promise<string | null>) =>
      broker.quarantine.requeue([stored.position], { isDryRun: true, stillRefused });
    expect(await dryRun(async () => null)).toEqual({ requeued: 1, refused: [] });
    expect(await dryRun(async () => 'no merchant')).toEqual({
      requeued: 0,
      refused: [{ position: stored.position, detail: 'it would be quarantined again: no merchant' }],
    });
    await bench().turn(broker);
    expect(await broker.quarantine.list({ limit: 10 })).toEqual([stored]);
    expect(seen).toHaveLength(1);
  });

  it('can be closed twice, and without anything started', async () => {
    const broker = await bench().open();
    await Promise.all([broker.close(), broker.close()]);
    await broker.close();
    await expect(broker.publishEvents([anEvent()])).rejects.toThrow();
    const again = await bench().open();
    expect(again.status().reachable).toBe(true);
  });
}
