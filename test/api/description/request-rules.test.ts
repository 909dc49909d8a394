import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { requestRules } from '../../../scripts/openapi/request-rules.ts';
import { OPERATIONS_FILE } from '../../../services/api/description.ts';

const description = (schema: object, schemas: object = {}) => ({
  ...{
    openapi: '3.1.0',
    info: { title: 'API', version: '1', description: 'Says it' },
    servers: [{ url: '/' }],
  },
  paths: {
    '/things/{id}': {
      parameters: [{ $ref: '#/components/parameters/Id' }],
      post: {
        description: 'Makes a thing',
        requestBody: {
          required: true,
          content: { 'application/json': { schema, examples: { one: { value: 1 } } } },
        },
        responses: { 201: { description: 'Made' } },
      },
    },
  },
  components: {
    parameters: {
      Id: { name: 'id', in: 'path', description: 'The id', schema: { $ref: '#/components/schemas/Id' } },
    },
    schemas: { Id: { type: 'string', format: 'uuid', example: 'a' }, ...schemas },
  },
});

it('keeps what validates a request, with references replaced, and drops texts, examples and responses', () => {
  const schema = {
    type: 'object',
    description: 'A thing',
    properties: { description: { type: 'string' }, title: { $ref: '#/components/schemas/Id', 'x-own': 1 } },
    default: { description: 'kept' },
  };
  expect(requestRules(description(schema)).paths).toEqual({
    '/things/{id}': {
      post: {
        parameters: [{ name: 'id', in: 'path', schema: { type: 'string', format: 'uuid' } }],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: { description: { type: 'string' }, title: { type: 'string', format: 'uuid' } },
                default: { description: 'kept' },
              },
            },
          },
        },
        responses: {},
      },
    },
  });
});

it('refuses a schema that contains itself, and a reference to nothing', () => {
  const tree = { Tree: { properties: { children: { items: { $ref: '#/components/schemas/Tree' } } } } };
  const own = { $ref: '#/components/schemas/Tree' };
  expect(() => requestRules(description(own, tree))).toThrow('#/components/schemas/Tree contains itself');
  expect(() => requestRules(description(own))).toThrow('openapi.yaml has no #/components/schemas/Tree');
});

// V8 keeps one copy of a name for the whole process. From a text with a single character beyond Latin-1 it takes two bytes
// per character, and webhooks' headers, log lines and JSON with that name would, too.
it('writes ASCII only', () => {
  expect(readFileSync(OPERATIONS_FILE, 'utf8')).not.toMatch(/[^\p{ASCII}]/u);
});
