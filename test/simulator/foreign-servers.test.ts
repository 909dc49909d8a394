/** A server that is not hookrail's ends a command with a plain error, and its texts do nothing to the terminal. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newApiKey } from '../../services/domain/api-key.ts';
import { simHere } from './support/command-line.ts';

let server: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const access: Record<string, string> = {
  HOOKRAIL_API_KEY: newApiKey('merchant', 'sandbox', Buffer.alloc(32, 1)),
  HOOKRAIL_PRODUCER_KEY: newApiKey('producer', 'sandbox', Buffer.alloc(32, 2)),
  HOOKRAIL_MERCHANT_ID: '5c1f1f0e-2f35-4d0f-9d55-0d0a3e0c6b77',
};

beforeAll(async () => {
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  access.HOOKRAIL_BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  access.HOOKRAIL_DATA_DIR = '/nonexistent';
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const says =
  (status: number, text: string, headers = {}) =>
  (_: unknown, response: ServerResponse) => {
    response.writeHead(status, headers).end(text);
  };
const STRANGE: readonly (readonly [string, typeof answer])[] = [
  ['a page', says(200, '<html>hello</html>', { 'content-type': 'text/html' })],
  ['the JSON of another API', says(200, '{"items":[]}')],
  ['a list', says(200, '[]')],
  ['a text', says(200, '"data"')],
  ['null', says(200, 'null')],
  ['data that is no list', says(200, '{"data":{},"next_cursor":null}')],
  ['items that are no objects', says(200, '{"data":[1],"next_cursor":null}')],
  ['items of another kind', says(200, '{"data":[{"id":1}],"results":1,"next_cursor":null}')],
  ['nothing', says(200, '')],
  ['204', says(204, '')],
  ['a redirect', says(302, '', { location: 'http://evil.example/' })],
  ['JSON that is cut off', says(200, '{"data":[{"uuid":')],
  [
    'a response that is cut off',
    (_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"data":[');
      setImmediate(() => response.destroy());
    },
  ],
  [
    'a body without an end',
    (_, response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    },
  ],
  ['an error with a strange problem', says(500, '{"code":5,"title":{},"errors":"none"}')],
  ['an error that is a list', says(404, '[1]')],
];

describe.each(STRANGE)('a server that answers with %s', (_, how) => {
  test.each([
    'endpoints list',
    'deliveries list',
    'events list',
    'whoami',
    'trigger KYC/FULL_USER',
    'deliveries get 0b3a4a6e-96a3-5b07-8a3b-2f4b35a0c4d1',
  ])('ends `sim %s` with a plain error', { timeout: 120_000 }, async (line) => {
    answer = how;
    const { code, stderr } = await simHere(line.split(' '), access);
    expect(code, stderr).toBeGreaterThan(0);
    expect(stderr).toMatch(/./);
    expect(stderr).not.toMatch(/\n {4}at |TypeError|SyntaxError|is not iterable|undefined/);
  });
});

const HOSTILE =
  'a\u001b[31mRED\rBACK\nLINE\u202eRTL\u009b2JC1\u200bZW\u001b]8;;http://evil.example\u0007LINK';
const OBEYED = new RegExp(
  [
    '[\u0000-\u0009\u000b-\u001a\u001c-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e]',
    String.raw`\u001b(?!\[[\d;]*m)`,
  ].join('|'),
);

const at = '2025-03-01T10:15:30.000Z';
const uuid = '7d9f0c52-4a57-4a39-9c57-3c1a5a6e2f10';
const endpoint = {
  ...{
    uuid,
    url: `https://a.example/${HOSTILE}`,
    description: HOSTILE,
    status: 'active',
    secret_hint: HOSTILE,
  },
  ...{ api_version: HOSTILE, subscribed_events: [HOSTILE], created_at: at, updated_at: at, legacy: false },
  ...{
    disabled_reason: HOSTILE,
    disabled_at: at,
    failure_count: 1,
    last_success_at: null,
    last_failure_at: at,
  },
};
const attempt = {
  ...{
    number: 1,
    started_at: at,
    duration_ms: 3,
    outcome: 'retry',
    response_status: 500,
    failure_code: HOSTILE,
  },
  ...{ failure_detail: HOSTILE, response_body: HOSTILE, response_headers: { [HOSTILE]: HOSTILE } },
  ...{ request_headers: { a: HOSTILE }, response_body_truncated: false },
};
const delivery = {
  ...{
    delivery_uuid: '0b3a4a6e-96a3-5b07-8a3b-2f4b35a0c4d1',
    event_uuid: uuid,
    endpoint_uuid: uuid,
    type: HOSTILE,
  },
  ...{
    subType: HOSTILE,
    status: 'failed',
    created_at: at,
    attempts_made: 1,
    attempts_max: 7,
    trigger: 'live',
  },
  ...{ next_attempt_at: at, cancel_reason: HOSTILE, held: false, parked_reason: HOSTILE, entity_uuid: uuid },
  ...{ api_version: '2.3.8', url: HOSTILE, body: HOSTILE, attempts: [attempt], last_attempt: attempt },
  ...{ last_failure_code: HOSTILE, last_response_status: 500, updated_at: at },
};
const event = {
  ...{ event_uuid: uuid, type: HOSTILE, subType: HOSTILE, created_at: at, entity_uuid: uuid, body: HOSTILE },
  endpoints: [
    { endpoint_uuid: uuid, verdict: 'routed', delivery_uuid: delivery.delivery_uuid, status: HOSTILE },
  ],
};

function hostile({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const page = (...data: object[]) => ({ data, next_cursor: null });
  const [path = ''] = url.split('?');
  if (path === '/merchant/webhook-endpoints') return void response.end(JSON.stringify(page(endpoint)));
  if (/deliveries\/[^/]+$/.test(path)) return void response.end(JSON.stringify(delivery));
  if (path.endsWith('/deliveries')) return void response.end(JSON.stringify(page(delivery)));
  if (path === '/merchant/events') return void response.end(JSON.stringify(page(event)));
  if (path.startsWith('/merchant/events/')) return void response.end(JSON.stringify(event));
  if (path === '/merchant') return void response.end('{"webhook_url":null,"webhook_endpoint":null}');
  if (/webhook-endpoints\/[^/]+$/.test(path)) return void response.end(JSON.stringify(endpoint));
  const problem = { code: HOSTILE, title: HOSTILE, detail: HOSTILE, request_id: HOSTILE };
  response
    .writeHead(422)
    .end(JSON.stringify({ ...problem, errors: [{ pointer: HOSTILE, detail: HOSTILE }] }));
}

describe('hostile texts do nothing to a terminal', () => {
  test.each([
    'endpoints list',
    `endpoints get ${uuid}`,
    'deliveries list',
    'deliveries list --status failed',
    `deliveries get ${delivery.delivery_uuid}`,
    `deliveries get ${delivery.delivery_uuid} --full`,
    `deliveries get ${delivery.delivery_uuid} --curl`,
    `deliveries resend ${delivery.delivery_uuid}`,
    'events list',
    `events get ${uuid}`,
    'missed',
    'trigger KYC/FULL_USER',
    `endpoints test ${uuid}`,
    `endpoints check ${uuid}`,
    `endpoints prepare ${uuid}`,
    `endpoints rotate ${uuid}`,
    'endpoints create --url https://a.example/',
    'doctor',
    'whoami',
  ])('in `sim %s`', { timeout: 60_000 }, async (line) => {
    answer = hostile;
    for (const columns of [undefined, 80, 200]) {
      const { stdout, stderr } = await simHere(line.split(' '), access, columns);
      const text = stdout + stderr;
      expect([line, OBEYED.exec(text)?.[0]]).toEqual([line, undefined]);
      // Foreign red is none of ours, and no foreign text begins a line.
      expect(text).not.toContain('\u001b[31mRED');
      // A body is shown line by line below its heading, and a command has it as it was sent.
      if (!/--full|--curl/.test(line)) expect(text).not.toMatch(/^LINE/m);
    }
  });

  test('in an address of a file', async () => {
    const { stderr } = await simHere(['whoami', '--base-url', `http://${HOSTILE}`], access, 80);
    expect(OBEYED.exec(stderr)?.[0]).toBeUndefined();
  });
});

test('JSON output keeps the texts as they were sent, escaped as JSON', async () => {
  answer = hostile;
  const { stdout } = await simHere(['endpoints', 'list', '--output', 'json'], access);
  expect(JSON.parse(stdout)[0].description).toBe(HOSTILE);
  expect(stdout).not.toContain('\u001b');
});
