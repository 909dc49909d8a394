import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { freePort } from '../../../scripts/free-ports.ts';

/**
 * How the registry responds: `well` = correctly; `error` = status 500; `page` = a proxy's own 404; `nothing` = never;
 * `half` = the connection breaks in the middle of the response; `conflict`, `forbidden`, `invalid` = 409, 403, 422 to a
 * registration; `locked` = 401; `raced` = another process was faster: it makes the change and responds with 409.
 */
export type RegistryMood = 'well' | 'error' | 'page' | 'nothing' | 'half' | 'locked' | 'raced' | Refusal;
type Refusal = keyof typeof REFUSALS;

const REFUSALS = {
  conflict: [409, { error_code: 409, message: 'Incompatible:\n field is gone' }],
  forbidden: [403, { error_code: 40301, message: 'User is denied operation Write on the subject' }],
  invalid: [422, { error_code: 42201, message: 'Invalid schema' }],
} as const;

/** A schema registry in memory, on loopback, with failures that a real one cannot produce on demand. */
export interface FakeRegistry {
  readonly url: string;
  mood: RegistryMood;
  /** Requests in order of arrival, such as `GET /schemas/ids/7`. */
  readonly requests: string[];
  /** The last request's Authorization header. */
  authorization: string | undefined;
  /** Schemas by id. */
  readonly schemas: Map<number, string>;
  /** Responses of a GET by its path, before all others. */
  readonly answers: Map<string, object>;
  /** Refuses connections until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
}

export async function startFakeRegistry(): Promise<FakeRegistry> {
  const subjects = new Map<string, Map<string, number>>();
  const levels = new Map<string, string>();
  const schemas = new Map<number, string>();
  const answers = new Map<string, object>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    registry.requests.push(`${request.method} ${request.url}`);
    registry.authorization = request.headers.authorization;
    const [status, body] = answer(request, text === '' ? {} : JSON.parse(text));
    reply(registry.mood, response, status, JSON.stringify(body));
  });
  const made = (body: object): Answer =>
    registry.mood === 'raced' ? [409, { error_code: 409, message: 'exists' }] : [200, body];
  const answer = (request: IncomingMessage, sent: { schema?: string; compatibility?: string }): Answer => {
    const [, what, name = '', versions] = (request.url ?? '').split('/');
    const given = answers.get(request.url ?? '');
    if (given) return [200, given];
    if (request.url === '/schemas/types') return [200, ['AVRO']];
    if (what === 'schemas') {
      const schema = schemas.get(Number(versions));
      return schema === undefined ? [404, { error_code: 40403, message: 'none' }] : [200, { schema }];
    }
    if (what === 'config') {
      if (request.method === 'PUT') {
        levels.set(name, sent.compatibility ?? '');
        return made({});
      }
      const compatibilityLevel = levels.get(name);
      return compatibilityLevel
        ? [200, { compatibilityLevel }]
        : [404, { error_code: 40408, message: 'none' }];
    }
    if (request.method === 'GET') return [404, { error_code: 40402, message: 'none' }];
    const known = subjects.get(name) ?? new Map<string, number>();
    const schema = sent.schema ?? '';
    const id = known.get(schema) ?? (versions === 'versions' ? schemas.size + 1 : undefined);
    if (id === undefined) return [404, { error_code: 40401, message: 'none' }];
    if (!known.has(schema) && registry.mood in REFUSALS) return REFUSALS[registry.mood as Refusal];
    const before = known.size;
    subjects.set(name, known.set(schema, id));
    schemas.set(id, schema);
    return known.size > before ? made({ id }) : [200, { id }];
  };
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  const port = await freePort();
  await listen(port);
  const registry: FakeRegistry = {
    url: `http://127.0.0.1:${port}`,
    mood: 'well',
    requests: [],
    authorization: undefined,
    schemas,
    answers,
    up: () => listen(port),
    down: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return registry;
}

type Answer = readonly [number, unknown];

function reply(mood: RegistryMood, response: ServerResponse, status: number, body: string): void {
  if (mood === 'nothing') return;
  response.setHeader('content-type', 'application/vnd.schemaregistry.v1+json');
  if (mood === 'error') response.writeHead(500).end('{"error_code":50001,"message":"no storage"}');
  else if (mood === 'locked') response.writeHead(401).end('{"error_code":40101,"message":"Unauthorized"}');
  else if (mood === 'page')
    response.writeHead(404, { 'content-type': 'text/html' }).end('<html>\nNot here</html>');
  else if (mood === 'half') {
    response.writeHead(status, { 'content-length': body.length });
    response.write(body.slice(0, 5), () => response.destroy());
  } else response.writeHead(status).end(body);
}
