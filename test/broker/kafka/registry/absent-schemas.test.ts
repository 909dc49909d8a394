/**
 * A schema that the registry reports as absent is asked for again for some seconds before it is believed, and "absent" counts
 * for no record that was read later. Ids that never existed hold up their records for seconds, however many they are.
 * Schemas that a schema refers to are fetched with it.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KafkaRecords } from '../../../../services/broker/kafka/registry/records.ts';
import { SchemaRegistry } from '../../../../services/broker/kafka/registry/registry.ts';
import { eventSchemaText } from '../../../../services/codec/event-schemas.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { type FakeRegistry, startFakeRegistry } from '../../../support/kafka/fake-registry.ts';
import { never, under } from '../../../support/kafka/wire-format.ts';
import { eventOf } from '../../../support/records/events.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const event = eventOf('merchant-1', 'one');
const schema = eventSchemaText(event.type);
const log = createLogger('silent');

let fake: FakeRegistry;
let clock: SimulatedClock;
let registry: SchemaRegistry;
let codec: KafkaRecords;
/** Requests for schemas that are under way: time stands still for them. */
let open = 0;

beforeEach(async () => {
  fake = await startFakeRegistry();
  clock = new SimulatedClock();
  registry = new SchemaRegistry({ url: fake.url, auth: null, ca: null, clock });
  const schemaOf = registry.schemaOf.bind(registry);
  registry.schemaOf = (id) => {
    open += 1;
    return schemaOf(id).finally(() => {
      open -= 1;
    });
  };
  codec = await KafkaRecords.open(registry, { clock, log, mayRegister: true, giveUpMs: 2_000 });
  fake.requests.length = 0;
});
afterEach(async () => {
  await registry.close();
  await fake.down();
});

const record = (id: number) => under(id, codec.encodeEvent(event));

/** Learns a record's schema as a stream does, letting time pass; returns how much passed. */
async function learn(id: number, readAt = clock.now(), whileWaiting: (passedMs: number) => void = () => {}) {
  const since = clock.now();
  let hasEnded = false;
  const learning = codec.learn(record(id), never(), readAt).then(() => {
    hasEnded = true;
  });
  await eventually('the schema is learnt or believed to be absent', () => {
    if (!hasEnded && open === 0) clock.advance(50);
    whileWaiting(clock.now() - since);
    return hasEnded;
  });
  await learning;
  return clock.now() - since;
}

describe('a schema that the registry does not have', () => {
  it('is asked for until it comes, if that is within seconds', async () => {
    for (const lateMs of [0, 2_000, 6_000]) {
      const id = 100 + lateMs;
      const passedMs = await learn(id, clock.now(), (passed) => {
        if (passed >= lateMs) fake.schemas.set(id, schema);
      });
      expect(codec.decodeEvent(record(id))).toEqual({ ok: true, event });
      expect(passedMs).toBeLessThan(lateMs + 2_000);
    }
  });

  it('is believed to be absent after some seconds, for records read before the last request only', async () => {
    const readAt = clock.now();
    expect(await learn(99, readAt)).toBeGreaterThanOrEqual(8_000);
    expect(codec.isKnown(record(99), readAt)).toBe(true);
    expect(codec.decodeEvent(record(99))).toMatchObject({
      ok: false,
      reason: 'unknown_schema',
      detail: 'the registry has no schema 99',
    });
    await clock.advance(10);
    fake.schemas.set(99, schema);
    expect(codec.isKnown(record(99), clock.now())).toBe(false);
    expect(await learn(99)).toBeLessThan(1_000);
    expect(codec.decodeEvent(record(99))).toEqual({ ok: true, event });
  });

  it('costs later records one request each, not the patience again', async () => {
    await learn(99);
    for (let i = 0; i < 3; i += 1) {
      await clock.advance(5_000);
      const requests = fake.requests.length;
      expect(await learn(99)).toBeLessThan(1_000);
      expect(fake.requests.length - requests).toBe(1);
    }
    await clock.advance(60_000);
    expect(await learn(99)).toBeGreaterThanOrEqual(4_000);
  });

  it('holds up its records for seconds, however many ids there are that never existed', async () => {
    const since = clock.now();
    for (let id = 1_000; id < 1_060; id += 1) await learn(id);
    expect(clock.now() - since).toBeLessThan(25_000);
    await clock.advance(61_000);
    expect(await learn(2_000)).toBeGreaterThanOrEqual(8_000);
  });
});

describe('a schema with references', () => {
  const root = JSON.parse(schema);
  const header = root.fields[0].type;
  const kind = header.fields.find(({ name }: { name: string }) => name === 'entityKind');
  const kindText = JSON.stringify({ ...kind.type, namespace: header.namespace });
  kind.type = `${header.namespace}.EntityKind`;
  const headerText = JSON.stringify(header);
  root.fields[0].type = `${header.namespace}.EventHeader`;
  const refersTo = (subject: string, version = 1) => [{ name: 'any', subject, version }];
  const serve = () => {
    fake.answers.set('/schemas/ids/99', {
      schema: JSON.stringify(root),
      references: refersTo('a/header', 3),
    });
    fake.answers.set('/subjects/a%2Fheader/versions/3', { schema: headerText, references: refersTo('kind') });
    fake.answers.set('/subjects/kind/versions/1', { schema: kindText });
  };

  it('is fetched with all that it refers to', async () => {
    serve();
    await learn(99);
    expect(codec.decodeEvent(record(99))).toEqual({ ok: true, event });
  });

  it('waits for a reference as for itself, and names the one that is missing', async () => {
    serve();
    fake.answers.delete('/subjects/kind/versions/1');
    expect(await learn(99)).toBeGreaterThanOrEqual(8_000);
    expect(codec.decodeEvent(record(99))).toMatchObject({
      reason: 'unknown_schema',
      detail: 'the registry has no version 1 of the subject kind, to which schema 99 refers',
    });
    serve();
    await clock.advance(10);
    await learn(99);
    expect(codec.decodeEvent(record(99))).toEqual({ ok: true, event });
  });

  it('is refused when it refers to more than may be fetched, in a circle or without end', async () => {
    serve();
    fake.answers.set('/subjects/kind/versions/1', { schema: kindText, references: refersTo('kind') });
    await learn(99);
    expect(codec.decodeEvent(record(99))).toEqual({ ok: true, event });
    const many = Array.from({ length: 40 }, (_, i) => refersTo(`many${i}`)).flat();
    fake.answers.set('/schemas/ids/97', { schema, references: many });
    fake.answers.set('/schemas/ids/98', { schema, references: refersTo('deep0') });
    for (let i = 0; i < 40; i += 1) {
      fake.answers.set(`/subjects/many${i}/versions/1`, { schema: '"string"' });
      fake.answers.set(`/subjects/deep${i}/versions/1`, {
        schema: '"string"',
        references: refersTo(`deep${i + 1}`),
      });
    }
    for (const [id, fault] of [
      [97, 'it refers to more than 32 schemas'],
      [98, 'its references are nested deeper than 8'],
    ] as const) {
      await learn(id);
      expect(codec.decodeEvent(record(id))).toMatchObject({
        reason: 'unusable_schema',
        detail: `schema ${id} cannot be used: ${fault}`,
      });
    }
  });

  it.each(['PROTOBUF', 'JSON'])('is not read when it is %s, and says so', async (schemaType) => {
    fake.answers.set('/schemas/ids/99', { schema: 'syntax = "proto3";', schemaType });
    await learn(99);
    expect(codec.decodeEvent(record(99))).toMatchObject({
      reason: 'unusable_schema',
      detail: expect.stringContaining(`schema 99 is a ${schemaType} schema, and hookrail reads Avro`),
    });
  });
});
