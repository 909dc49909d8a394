/**
 * A registry that is away stops only records with a schema not seen before, and only until it is back: no event goes
 * to quarantine because a registry was down. A start waits for it within its limit, and explains a failure in one
 * line.
 */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { generate } from 'selfsigned';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KafkaRecords } from '../../../../services/broker/kafka/registry/records.ts';
import {
  SchemaRegistry,
  type SchemaRegistryOptions,
} from '../../../../services/broker/kafka/registry/registry.ts';
import { eventSchemaText } from '../../../../services/codec/event-schemas.ts';
import { taskCodec } from '../../../../services/codec/records.ts';
import { EVENT_TYPES } from '../../../../services/domain/event.ts';
import type { Clock } from '../../../../services/process/clock.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { type FakeRegistry, startFakeRegistry } from '../../../support/kafka/fake-registry.ts';
import { lineOf, never, under } from '../../../support/kafka/wire-format.ts';
import { eventOf } from '../../../support/records/events.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const event = eventOf('merchant-1', 'one');

const lines: { readonly level: number; readonly msg: string }[] = [];
const log = createLogger(
  'info',
  new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  }),
);
const open = (registry: SchemaRegistry, clock: Clock, mayRegister = true) =>
  KafkaRecords.open(registry, { clock, log, mayRegister, giveUpMs: 2_000 });
const connect = (url: string, clock: Clock, auth: SchemaRegistryOptions['auth'] = null) =>
  new SchemaRegistry({ url, auth, ca: null, clock });

describe('a codec whose registry fails', () => {
  let fake: FakeRegistry;
  let clock: SimulatedClock;
  let registry: SchemaRegistry;

  beforeEach(async () => {
    fake = await startFakeRegistry();
    clock = new SimulatedClock();
    registry = connect(fake.url, clock);
    lines.length = 0;
  });
  afterEach(async () => {
    await registry.close();
    await fake.down();
  });

  /** Lets time pass until the promise has settled; answers how much passed. */
  async function passing(promise: Promise<unknown>): Promise<number> {
    const since = clock.now();
    let settled = false;
    const done = () => {
      settled = true;
    };
    promise.then(done, done);
    await eventually('the promise has settled', () => {
      if (!settled) clock.advance(50);
      return settled;
    });
    return clock.now() - since;
  }

  it.each(['down', 'error', 'page', 'nothing', 'half', 'locked'] as const)(
    'waits for an unknown schema when the registry is %s, continues with known ones, and logs it once',
    async (mood) => {
      const codec = await open(registry, clock);
      const known = codec.encodeEvent(event);
      fake.schemas.set(99, eventSchemaText(event.type));
      const unknown = under(99, known);
      if (mood === 'down') await fake.down();
      else fake.mood = mood;
      fake.requests.length = 0;

      const learnt = Promise.all([codec.learn(unknown, never()), codec.learn(unknown, never())]);
      await eventually('the failure is logged', () => {
        clock.advance(500);
        return lines.length > 0;
      });
      clock.advance(30_000);
      expect(codec.isKnown(unknown)).toBe(false);
      expect(codec.isKnown(known)).toBe(true);
      expect(codec.decodeEvent(known).ok).toBe(true);
      if (mood === 'down') await fake.up();
      else fake.mood = 'well';
      await passing(learnt);
      expect(codec.decodeEvent(unknown)).toEqual({ ok: true, event });
      expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
        [
          40,
          'the schema registry does not answer: records with new schemas wait, others are processed; check it and HOOKRAIL_SCHEMA_REGISTRY_URL',
        ],
        [30, 'the schema registry answers again'],
      ]);
    },
  );

  it('asks once for a schema that two partitions wait for', async () => {
    const codec = await open(registry, clock);
    fake.schemas.set(99, eventSchemaText(event.type));
    fake.requests.length = 0;
    const unknown = under(99, codec.encodeEvent(event));
    await Promise.all([codec.learn(unknown, never()), codec.learn(unknown, never())]);
    await codec.learn(unknown, never());
    expect(fake.requests).toEqual(['GET /schemas/ids/99']);
  });

  it('stops waiting when told to, during a request or a pause', async () => {
    const codec = await open(registry, clock);
    const unknown = under(99, codec.encodeEvent(event));
    fake.mood = 'nothing';
    const stop = new AbortController();
    const asking = codec.learn(unknown, stop.signal);
    const pausing = codec.learn(under(98, unknown), stop.signal);
    clock.advance(5_000);
    await eventually('the codec pauses between requests', () => lines.length > 0);
    stop.abort();
    await Promise.all([asking, pausing, codec.learn(unknown, stop.signal)]);
    expect(codec.isKnown(unknown)).toBe(false);
  });

  it('waits at the start for a registry that comes late', async () => {
    await fake.down();
    const opened = open(registry, clock);
    await eventually('the codec waits for the registry', () => lines.length > 0);
    await fake.up();
    await passing(opened);
    expect((await opened).isKnown((await opened).encodeEvent(event))).toBe(true);
    expect(lines.map(({ msg }) => msg)).toEqual(['the schema registry does not answer yet: waiting for it']);
  });

  it.each(['down', 'error', 'nothing', 'half'] as const)(
    'gives up the start when the registry stays %s, with one line that names the URL',
    async (mood) => {
      if (mood === 'down') await fake.down();
      else fake.mood = mood;
      const opened = open(registry, clock);
      expect(await passing(opened)).toBeLessThan(2_000 + 5_100);
      const line = await lineOf(opened);
      expect(line).toContain(`${fake.url} gave no answer within 2 s (`);
      expect(line).toContain('HOOKRAIL_SCHEMA_REGISTRY_URL');
      if (mood === 'down') await fake.up();
    },
  );

  it('ends the start at once when there is no registry, or the schema is incompatible', async () => {
    fake.mood = 'page';
    expect(await lineOf(open(registry, clock))).toMatch(
      /cannot be used as the schema registry.*\(status 404\)/,
    );
    fake.mood = 'locked';
    expect(await lineOf(open(registry, clock))).toMatch(/rejects the user name and password, status 401/);
    fake.mood = 'conflict';
    expect(await lineOf(open(registry, clock))).toBe(
      `the schema registry at ${fake.url} rejects this version's schema of ${taskCodec.name}: ` +
        'Incompatible: field is gone; another build has written records that this one could not read. Before 0.1.0 ' +
        'use that build, or a registry and topics of its own (HOOKRAIL_KAFKA_TOPIC_PREFIX) for this one, or delete ' +
        `the topics and the subject ${taskCodec.name}`,
    );
  });

  it.each([
    [
      'forbidden',
      /User is denied.*HOOKRAIL_SCHEMA_REGISTRY_USERNAME.*DeliveryTask; .*`hookrail operator schemas`/,
    ],
    ['conflict', /Incompatible: field is gone; another build has written records .*DeliveryTask$/],
    ['invalid', /Invalid schema; check the versions and the compatibility level.*DeliveryTask$/],
  ] as const)('ends the start at once, in one line, when a registration is %s', async (mood, line) => {
    fake.mood = mood;
    expect(await lineOf(open(registry, clock))).toMatch(line);
    expect(lines).toEqual([]);
  });

  it.each(['down', 'error', 'nothing', 'half'] as const)(
    'ends a client’s look-up when the registry is %s, and allows another',
    async (mood) => {
      if (mood === 'down') await fake.down();
      else fake.mood = mood;
      const found = registry.find(taskCodec.name, taskCodec.schema);
      await passing(found);
      await expect(found).rejects.toMatchObject({ name: 'RegistryError', kind: 'unreachable' });
      if (mood === 'down') await fake.up();
    },
  );

  it('registers schemas only where it may, and sets each subject’s level before its first version', async () => {
    const missing = await lineOf(open(registry, clock, false));
    expect(missing).toContain(taskCodec.name);
    expect(missing).toContain('com.hookrail.events.Kyc');
    expect(missing).toContain('`hookrail operator schemas` prints');
    expect(fake.schemas.size).toBe(0);
    await open(registry, clock);
    expect(fake.schemas.size).toBe(5 + EVENT_TYPES.length);
    const subject = `/config/${taskCodec.name}`;
    const level = fake.requests.indexOf(`PUT ${subject}`);
    expect(level).toBeGreaterThan(0);
    expect(level).toBeLessThan(fake.requests.indexOf(`POST /subjects/${taskCodec.name}/versions`));
    await open(registry, clock, false);
  });

  it('accepts schemas that another process registered at the same moment', async () => {
    fake.mood = 'raced';
    const codec = await open(registry, clock);
    expect(codec.decodeEvent(codec.encodeEvent(event))).toEqual({ ok: true, event });
    expect(fake.schemas.size).toBe(5 + EVENT_TYPES.length);
  });

  it('sends its user name and password with every request, and never shows them', async () => {
    const auth = { username: 'hook', password: 'rail-pass' };
    const guarded = connect(fake.url, clock, auth);
    const expected = `Basic ${Buffer.from('hook:rail-pass').toString('base64')}`;
    await guarded.probe();
    expect(fake.authorization).toBe(expected);
    fake.authorization = undefined;
    await guarded.find('subject', '{"type":"record","name":"a","fields":[]}');
    expect(fake.authorization).toBe(expected);
    fake.mood = 'locked';
    expect(await lineOf(open(guarded, clock))).not.toContain('rail-pass');
    await guarded.close();
  });
});

it('a codec trusts over TLS the given certificate authority and no other', async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  const server = createServer({ cert, key }, (request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(request.resume().url === '/schemas/types' ? '["AVRO"]' : '{"id":7}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  const clock = new SimulatedClock();
  const trusting = new SchemaRegistry({ url, auth: null, ca: cert, clock });
  await trusting.probe();
  expect(await trusting.find('subject', '{}')).toBe(7);
  const other = new SchemaRegistry({ url, auth: null, ca: null, clock });
  await expect(other.probe()).rejects.toThrow(/certificate/);
  await expect(other.find('subject', '{}')).rejects.toThrow(/certificate/);
  await Promise.all([trusting.close(), other.close()]);
  server.close();
});
