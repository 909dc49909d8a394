/** openapi.yaml agrees with the list of error codes and with the catalog. */
import { describe, expect, test } from 'vitest';
import { ERROR_CODES, errorCodesTable } from '../../services/api/error-codes.ts';
import { FIELD_CODES } from '../../services/api/field-codes.ts';
import { FAILURE_CODES } from '../../services/domain/attempt.ts';
import { API_VERSIONS } from '../../services/domain/endpoint.ts';
import { ENDPOINT_URL_RULES } from '../../services/domain/endpoint-url.ts';
import { EVENT_TYPES } from '../../services/domain/event.ts';
import { NOTICE_TYPES } from '../../services/domain/notices/notice.ts';
import { openapi, operations } from '../support/api/openapi-check.ts';

const codes = Object.keys(ERROR_CODES);
const { responses, schemas } = openapi.components;

describe('the error codes of the API description', () => {
  test('are exactly those of the code, each under its status', () => {
    expect(schemas.Problem.properties.code['x-known-values']).toEqual(codes);
    const described = new Set<string>();
    for (const [name, response] of Object.entries<{ 'x-codes': string[]; content: object }>(responses)) {
      const examples = response.content['application/problem+json' as never] as { examples: object };
      expect([name, Object.keys(examples.examples)]).toEqual([name, response['x-codes']]);
      for (const code of response['x-codes']) described.add(code);
    }
    expect([...described].sort()).toEqual([...codes].sort());
  });

  test('are under the status of the response that the operation refers to', () => {
    for (const { method, path, operation } of operations()) {
      for (const [status, response] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue;
        const name = response.$ref?.split('/').at(-1) ?? '';
        for (const code of responses[name]['x-codes'] as (keyof typeof ERROR_CODES)[]) {
          expect([method, path, code, String(ERROR_CODES[code].status)]).toEqual([
            method,
            path,
            code,
            status,
          ]);
        }
      }
    }
  });

  test('have examples that match the code', () => {
    for (const response of Object.values<{ content: Record<string, { examples: object }> }>(responses)) {
      for (const [code, { value }] of Object.entries(
        response.content['application/problem+json']?.examples ?? {},
      )) {
        const { status, title, hint } = ERROR_CODES[code as keyof typeof ERROR_CODES];
        expect(value).toMatchObject({ code, status, title, detail: hint });
      }
    }
  });

  test('include the codes of fields and of the URL rules', () => {
    const known = schemas.Problem.properties.errors.items.properties.code['x-known-values'];
    for (const code of [...FIELD_CODES, ...ENDPOINT_URL_RULES]) expect(known).toContain(code);
  });

  test('have a row each in the table', () => {
    for (const code of codes) expect(errorCodesTable()).toContain(`| \`${code}\` |`);
  });
});

/** Yields every object of a part of the description, with its place. */
function* nodesOf(node: unknown, at: string): Generator<readonly [at: string, node: object]> {
  if (typeof node !== 'object' || node === null) return;
  yield [at, node];
  for (const [name, child] of Object.entries(node)) yield* nodesOf(child, `${at}/${name}`);
}

describe('the lists of values in the API description', () => {
  test('are exact in requests, and known values in answers', () => {
    expect(schemas.EventTypeRequested.enum).toEqual([...EVENT_TYPES]);
    expect(schemas.EventType['x-known-values']).toEqual([...EVENT_TYPES]);
    expect(schemas.WebhookTypeRequested.enum).toEqual([...EVENT_TYPES, ...NOTICE_TYPES]);
    expect(schemas.WebhookType['x-known-values']).toEqual([...EVENT_TYPES, ...NOTICE_TYPES]);
    expect(schemas.FailureCode['x-known-values']).toEqual([...FAILURE_CODES]);
    expect(schemas.CreateWebhookEndpoint.properties.api_version.enum).toEqual([...API_VERSIONS]);
    expect(openapi.components.parameters.ApiVersion.schema.enum).toEqual([...API_VERSIONS]);
  });

  test('are open in answers and webhooks, which refuse no property', () => {
    const closed: string[] = [];
    const look = (root: unknown, from: string) => {
      for (const [at, node] of nodesOf(root, from)) {
        if (/\/not(\/|$)/.test(at)) continue;
        if ('enum' in node || ('additionalProperties' in node && node.additionalProperties === false))
          closed.push(at);
      }
    };
    const requests = [
      'CreateWebhookEndpoint',
      'UpdateWebhookEndpoint',
      'UpdateMerchantWebhook',
      'RotateSecret',
      'TestWebhook',
      'TriggerEvent',
      'HeaderSent',
      'HeaderKept',
      'StartReplay',
      'EventTypeRequested',
      'WebhookTypeRequested',
      'ProducerEvent',
      'CreatePortalSession',
      'CreatePortalSession/properties/access',
      'CreateMerchant',
      'UpdateMerchant',
      'WithReason',
      'CreateApiKey',
      'StartIncidentReplay',
      'CloseMerchant',
      'ErasePerson',
      'ReplayQuarantined',
      'ReplayQuarantine',
      'QuarantineReasonRequested',
      'OpenConsole',
    ];
    for (const [name, schema] of Object.entries(schemas)) if (!requests.includes(name)) look(schema, name);
    look(openapi.webhooks, 'webhooks');
    for (const { path, method, operation } of operations()) look(operation.responses, `${method} ${path}`);
    expect(closed).toEqual([]);
  });

  test('of texts in requests have no U+0000, which not every store can keep', () => {
    const open: string[] = [];
    const look = (root: unknown, from: string) => {
      for (const [at, node] of nodesOf(root, from)) {
        const { type, pattern, ...rest } = node as Record<string, unknown>;
        const isText = [type].flat().includes('string') && !('enum' in rest || 'format' in rest);
        if (isText && (pattern === undefined || new RegExp(String(pattern), 'u').test('https://a\0')))
          open.push(at);
      }
    };
    const requests = [
      'CreateWebhookEndpoint',
      'UpdateWebhookEndpoint',
      'UpdateMerchantWebhook',
      'RotateSecret',
      'TestWebhook',
      'TriggerEvent',
      'CreateMerchant',
      'UpdateMerchant',
      'WithReason',
      'CreateApiKey',
      'StartIncidentReplay',
      'CloseMerchant',
      'ErasePerson',
      'ReplayQuarantined',
      'ReplayQuarantine',
    ];
    for (const name of [...requests, 'StartReplay', 'Url', 'DescriptionSent']) look(schemas[name], name);
    for (const [name, { in: place, schema }] of Object.entries<{ in: string; schema: object }>(
      openapi.components.parameters,
    ))
      if (place === 'query') look(schema, name);
    expect(open).toEqual([]);
  });

  test('are strict in requests, which refuse unknown properties', () => {
    for (const name of [
      'CreateWebhookEndpoint',
      'UpdateWebhookEndpoint',
      'UpdateMerchantWebhook',
      'RotateSecret',
      'TestWebhook',
      'HeaderSent',
      'HeaderKept',
      'StartReplay',
      'ProducerEvent',
      'CreateMerchant',
      'UpdateMerchant',
      'WithReason',
      'CreateApiKey',
      'StartIncidentReplay',
      'CloseMerchant',
      'ErasePerson',
      'ReplayQuarantined',
      'ReplayQuarantine',
    ]) {
      expect([name, schemas[name].additionalProperties]).toEqual([name, false]);
    }
  });
});
