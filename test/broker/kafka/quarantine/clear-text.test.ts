/** A quarantined record of Kafka is shown in clear text by the schema that the registry has of it, or says why not. */
import { expect, it } from 'vitest';
import type { Quarantined, QuarantineReason } from '../../../../services/domain/quarantine.ts';
import { fromTopic } from '../../../support/kafka/from-topic.ts';
import { describeWithKafka } from '../../../support/kafka/suites.ts';
import { openTables, type Tables } from '../../../support/kafka/tables.ts';
import { aTask, routed } from '../../../support/records/broker-records.ts';
import { eventOf } from '../../../support/records/events.ts';

await describeWithKafka('a quarantined record on Kafka', ({ brokers }) => {
  const recordOf = (topic: string, value: Buffer | null, reason: QuarantineReason = 'undecodable') =>
    fromTopic({ reason, detail: 'why', at: 1, eventId: null, merchantId: null }, { topic, value });
  const clearTextOf = (tables: Tables, record: Quarantined) =>
    tables.quarantineOn(tables.reader).clearText(record);

  it('shows an event that breaks rules, with a pointer to each fault', async () => {
    const tables = await openTables(brokers);
    const sound = eventOf('merchant-1', 'clear');
    const wrong = { ...sound, data: { ...sound.data, currencyFiat: 'euro' } };
    const clear = await clearTextOf(
      tables,
      recordOf(tables.topics.events, tables.records.encodeEvent(wrong), 'schema_violation'),
    );
    expect(clear).toMatchObject({
      kind: 'event',
      document: { type: wrong.type, header: { eventId: wrong.eventId }, data: { currencyFiat: 'euro' } },
      problems: [{ pointer: '/data/currencyFiat', detail: expect.any(String) }],
    });
    expect(clear).not.toHaveProperty('event');
    const inOrder = recordOf(tables.topics.events, tables.records.encodeEvent(sound), 'unknown_merchant');
    expect(await clearTextOf(tables, inOrder)).toMatchObject({ problems: [], event: sound });
  });

  it('shows tasks and entries of the journal as JSON, their bodies too', async () => {
    const tables = await openTables(brokers);
    const { deliver, journal } = tables.topics;
    const task = aTask();
    const value = tables.records.encode('task', task);
    expect(await clearTextOf(tables, recordOf(deliver, value, 'attempt_stalled'))).toMatchObject({
      kind: 'task',
      document: { deliveryId: task.deliveryId, body: { body: '✓' } },
    });
    const entry = routed(eventOf('merchant-1', 'journal'));
    const entries = tables.records.encode('journal', [entry]);
    expect(await clearTextOf(tables, recordOf(journal, entries))).toMatchObject({
      kind: 'journal',
      document: [{ kind: 'routed', event: { eventId: entry.event.eventId } }],
    });
  });

  it('says why it shows nothing, and does not read what made a process stand still', async () => {
    const tables = await openTables(brokers);
    const { events } = tables.topics;
    const value = tables.records.encodeEvent(eventOf('merchant-1', 'why'));
    const whole = recordOf(events, value);
    const unknown = Buffer.from(value);
    unknown.writeUInt32BE(999_999, 1);
    for (const [record, why] of [
      [recordOf(events, null), 'no value (a tombstone)'],
      [{ ...whole, bytes: value.subarray(0, 9) }, `only the first 9 of its ${value.length} bytes`],
      [recordOf(events, value, 'event_stalled'), 'made a process stand still'],
      [recordOf(events, Buffer.from('{"type":"KYC"}')), 'not in Confluent’s wire format'],
      [recordOf(events, unknown), 'no schema 999999'],
      [recordOf(events, value.subarray(0, -7)), 'cut short'],
      [recordOf(tables.topics.deliver, value), 'another kind of record'],
    ] as const)
      expect(await clearTextOf(tables, record)).toEqual({
        kind: 'unreadable',
        why: expect.stringContaining(why),
      });
  });
});
