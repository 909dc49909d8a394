/**
 * The AsyncAPI document: valid by the official schema, whole, and of the very Avro schemas and webhooks that the service
 * uses.
 */
import { readFileSync } from 'node:fs';
import specs from '@asyncapi/specs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import avro from 'avsc';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { EVENT_TYPES } from '../../services/domain/event.ts';
import { mismatch, openapi } from '../support/api/openapi-check.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
// biome-ignore lint/suspicious/noExplicitAny: a document of any shape; tests read the fields they expect.
let served: any;
let type: string | null;
beforeAll(async () => {
  api = await startTestApi();
  const response = await fetch(`${api.api.url}/asyncapi.yaml`);
  type = response.headers.get('content-type');
  served = parse(await response.text());
});
afterAll(() => api.close());

describe('/asyncapi.yaml', () => {
  test('is valid by the official schema of AsyncAPI 3, which refuses a broken one', () => {
    // The schema brings those that it refers to, the one of schemas among them.
    const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false });
    addFormats.default(ajv);
    const check = ajv.compile(specs.schemas['3.0.0'] as object);
    expect([type, served.asyncapi]).toEqual([expect.stringContaining('application/yaml'), '3.0.0']);
    expect([check(served), check.errors?.slice(0, 3)]).toEqual([true, undefined]);
    expect(check({ ...served, channels: { events: { address: 5 } } })).toBe(false);
    const [message] = Object.values<{ payload: object }>(served.components.messages);
    const payload = { ...message?.payload, schema: { type: 'record', name: 'x' } };
    const broken = { ...served.components, messages: { a: { ...message, payload } } };
    expect(check({ ...served, components: broken })).toBe(false);
  });

  test('has references that all resolve within it', () => {
    const references = [...JSON.stringify(served).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = '']) => ref);
    expect(references.length).toBeGreaterThan(100);
    for (const reference of references) {
      const [root, ...parts] = reference.split('/');
      const target = parts.reduce((node, part) => node?.[part], served);
      expect([reference, root, typeof target]).toEqual([reference, '#', 'object']);
    }
  });

  test('receives each event type from the topic of producers, with its Avro schema', () => {
    const { address, messages, bindings } = served.channels.events;
    expect([address, bindings.kafka.topic]).toEqual(['payments.events', 'payments.events']);
    expect(Object.keys(messages)).toEqual([...EVENT_TYPES]);
    expect(served.operations.receiveEvents).toMatchObject({ action: 'receive' });
    for (const name of EVENT_TYPES) {
      const message = served.components.messages[`${name}.published`];
      const file = new URL(`../../schemas/events/${name}.avsc`, import.meta.url);
      expect(message.payload.schema).toEqual(JSON.parse(readFileSync(file, 'utf8')));
      expect(avro.Type.forSchema(message.payload.schema).name).toBe(message['x-registry-subject']);
    }
  });

  test('sends each event type to endpoints, with the schema and examples of the API description', () => {
    expect(served.operations.sendWebhooks).toMatchObject({ action: 'send' });
    expect(Object.keys(served.channels.webhooks.messages)).toEqual([...EVENT_TYPES]);
    for (const name of EVENT_TYPES) {
      const { payload, examples } = served.components.messages[`${name}.webhook`];
      expect(payload).toEqual({ $ref: `#/components/schemas/${name}` });
      expect(served.components.schemas[name]).toEqual(openapi.components.schemas[name]);
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples)
        expect(mismatch(`/components/schemas/${name}`, example.payload)).toBeUndefined();
    }
  });

  test('names the headers that a webhook has', () => {
    const { properties, required } = served.components.schemas['webhooks.headers'];
    const described = openapi.webhooks.KYC.post.parameters.map(
      ({ $ref }: { $ref: string }) => openapi.components.parameters[$ref.split('/').at(-1) ?? ''].name,
    );
    expect(Object.keys(properties)).toEqual(described);
    expect(required).toContain('webhook-signature');
    expect(required).not.toContain('webhook-test');
  });
});
