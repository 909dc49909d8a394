import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  COMPATIBILITY,
  SchemaRegistry as RegistryClient,
  SchemaType,
} from '@kafkajs/confluent-schema-registry';
import { Agent, request } from 'undici';
import type { RegisteredSchema } from '../../../codec/written/written-schema.ts';
import { withoutTrailing } from '../../../domain/text/trimmed.ts';
import type { Clock } from '../../../process/clock.ts';
import { MissingSchema, type SchemaAnswer, withReferences } from './registry-references.ts';

export interface SchemaRegistryOptions {
  /** The address of a registry's Confluent-compatible API: `http://registry:8080/apis/ccompat/v7`. */
  readonly url: string;
  /** HTTP basic authentication. */
  readonly auth: { readonly username: string; readonly password: string } | null;
  /** Certificate authorities to trust for https, PEM, instead of the system's. */
  readonly ca: string | null;
  readonly clock: Clock;
}

/**
 * `unreachable`: it was not asked, or could not respond; the same request may succeed later. `refused`: it responded,
 * and will give the same response again. The message is one line without secrets.
 */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
  readonly kind: 'unreachable' | 'refused';
  /** The response's status, if there was a response. */
  readonly status: number | undefined;

  constructor(kind: 'unreachable' | 'refused', message: string, status?: number) {
    super(oneLine(message));
    this.kind = kind;
    this.status = status;
  }
}

/** The time limit of one request; a slower registry counts as unreachable. */
const ANSWER_MS_MAX = 5_000;
/** A schema has some kilobytes; a longer response is not a registry's. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const MESSAGE_CHARACTERS_MAX = 400;
const CLIENT_ID = 'hookrail';
export const CONTENT_TYPE = 'application/vnd.schemaregistry.v1+json';

/** Each version of a schema reads records of every other: rolling deployments mix them, and tasks outlive one. */
export const LEVEL = COMPATIBILITY.FULL_TRANSITIVE;

/**
 * A Confluent-compatible schema registry (Apicurio, Confluent, Karapace). Every method rejects with RegistryError, within
 * seconds: the caller decides whether and how long to retry.
 *
 * The ecosystem's client looks up and registers versions. It cannot set a level before the first version, and returns
 * schemas parsed, which loses logical types and fails for schemas that avsc cannot parse. For these, and to probe
 * whether a registry is there at all, this class makes plain requests.
 */
export class SchemaRegistry {
  /** The URL without credentials, for messages. */
  readonly url: string;
  readonly #base: string;
  readonly #clock: Clock;
  readonly #client: RegistryClient;
  readonly #clientAgent: HttpAgent;
  readonly #dispatcher: Agent;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url, auth, ca, clock }: SchemaRegistryOptions) {
    const { protocol, origin, pathname } = new URL(url);
    this.#base = withoutTrailing(`${origin}${pathname}`, '/');
    this.url = this.#base;
    this.#clock = clock;
    this.#clientAgent = protocol === 'https:' ? new HttpsAgent(ca === null ? {} : { ca }) : new HttpAgent();
    this.#client = new RegistryClient({
      host: this.#base,
      clientId: CLIENT_ID,
      agent: this.#clientAgent,
      // Callers retry by themselves, and know when to stop.
      retry: { retries: 0 },
      ...(auth === null ? {} : { auth }),
    });
    this.#dispatcher = new Agent({
      maxResponseSize: ANSWER_BYTES_MAX,
      connect: { timeout: ANSWER_MS_MAX, ...(ca === null ? {} : { ca }) },
    });
    const basic = auth && Buffer.from(`${auth.username}:${auth.password}`).toString('base64');
    this.#headers = { accept: CONTENT_TYPE, ...(basic === null ? {} : { authorization: `Basic ${basic}` }) };
  }

  /** Rejects with `refused` when the URL is not a schema registry's. */
  async probe(): Promise<void> {
    const { status, json } = await this.#request('GET', '/schemas/types');
    if (status === 200 && Array.isArray(json)) return;
    if (isLater(status) || isCredentials(status)) throw failure(status, json);
    throw new RegistryError('refused', `its response is not a schema registry's (status ${status})`);
  }

  /** Returns the schema as it was registered, with those that it refers to; MissingSchema when the registry reports that it has no such. */
  async schemaOf(id: number): Promise<RegisteredSchema | MissingSchema> {
    const found = await this.#found(`/schemas/ids/${id}`);
    if (found === undefined) return new MissingSchema(`the registry has no schema ${id}`);
    return withReferences(id, found, ({ subject, version }) =>
      this.#found(`/subjects/${encodeURIComponent(subject)}/versions/${version}`),
    );
  }

  /** Returns the response with a schema; undefined when the registry reports that it has none there. */
  async #found(path: string): Promise<SchemaAnswer | undefined> {
    const { status, json } = await this.#request('GET', path);
    const fields = fieldsOf(json);
    if (status === 200 && typeof fields.schema === 'string') return { ...fields, schema: fields.schema };
    // A 404 of something in between (a proxy, a moved path) does not count: events must not be refused because of it.
    if (status === 404 && codeOf(json).startsWith('404')) return undefined;
    throw failure(status, json);
  }

  /** Returns the id of this schema under the subject; undefined when the subject or the version does not exist. */
  async find(subject: string, schemaText: string): Promise<number | undefined> {
    const compact = compactOf(schemaText);
    // Apicurio compares texts, and an operator registers a file unchanged.
    return (
      (await this.#idOf(subject, compact)) ??
      (compact === schemaText ? undefined : await this.#idOf(subject, schemaText))
    );
  }

  /**
   * Returns the id of this schema under the subject, after registering it if necessary. An existing level of
   * compatibility stays; where there is none, FULL_TRANSITIVE is set first. `refused` when the schema is incompatible.
   */
  async register(subject: string, schemaText: string): Promise<number> {
    const found = await this.find(subject, schemaText);
    if (found !== undefined) return found;
    const level = await this.#levelFor(subject);
    const schema = { type: SchemaType.AVRO as const, schema: compactOf(schemaText) };
    try {
      return await this.#call(async () => {
        const { id } = await this.#client.register(schema, { subject, compatibility: level });
        return id;
      });
    } catch (error) {
      // Another process may have registered the same schema just now, which some registries report as a conflict.
      const registered = isRefused(error) ? await this.find(subject, schemaText) : undefined;
      if (registered !== undefined) return registered;
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#clientAgent.destroy();
    await this.#dispatcher.destroy();
  }

  async #idOf(subject: string, schema: string): Promise<number | undefined> {
    try {
      return await this.#call(() =>
        this.#client.getRegistryIdBySchema(subject, { type: SchemaType.AVRO, schema }),
      );
    } catch (error) {
      if (error instanceof NoVersion) return undefined;
      throw error;
    }
  }

  /** Returns the subject's level, set if it has none. */
  async #levelFor(subject: string): Promise<COMPATIBILITY> {
    const path = `/config/${encodeURIComponent(subject)}`;
    const { status, json } = await this.#request('GET', path);
    if (status !== 200 && status !== 404) throw failure(status, json);
    const level = fieldsOf(json).compatibilityLevel;
    // Apicurio returns "NONE" for a subject without a rule.
    if (status === 200 && typeof level === 'string' && level !== COMPATIBILITY.NONE) {
      return level as COMPATIBILITY;
    }
    const set = await this.#request('PUT', path, { compatibility: LEVEL });
    // 404: some registries know no subject before its first version; the client then sets the level right after it.
    // 409: another process set it in between (Apicurio).
    if (![200, 404, 409].includes(set.status)) throw failure(set.status, set.json);
    return LEVEL;
  }

  /** Makes a request of the client with a time limit: it never ends when the connection breaks during a response. */
  async #call(ask: () => Promise<number>): Promise<number> {
    return this.#withinTime(async () => {
      const id = await ask().catch((error: unknown) => {
        throw ofClient(error);
      });
      if (!Number.isSafeInteger(id)) throw new RegistryError('unreachable', 'its response has no schema id');
      return id;
    });
  }

  async #request(method: 'GET' | 'PUT', path: string, body?: object): Promise<Answer> {
    return this.#withinTime(async (signal) => {
      try {
        const response = await request(`${this.#base}${path}`, {
          method,
          dispatcher: this.#dispatcher,
          signal,
          headers: body === undefined ? this.#headers : { ...this.#headers, 'content-type': CONTENT_TYPE },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return { status: response.statusCode, json: parsed(await response.body.text()) };
      } catch (error) {
        throw new RegistryError('unreachable', faultOf(error));
      }
    });
  }

  async #withinTime<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    let cancel = () => {};
    const late = new Promise<never>((_resolve, reject) => {
      cancel = this.#clock.at(this.#clock.now() + ANSWER_MS_MAX, () => {
        reject(new RegistryError('unreachable', `no answer within ${ANSWER_MS_MAX / 1000} s`));
        abort.abort();
      });
    });
    try {
      return await Promise.race([ask(abort.signal), late]);
    } finally {
      cancel();
    }
  }
}

interface Answer {
  readonly status: number;
  /** Undefined when the response is not JSON. */
  readonly json: unknown;
}

/** The client's 404 for a look-up, whose status it drops. */
class NoVersion extends Error {}

/** Converts the client's errors. It also reports status 400 for a refused connection, so that status means nothing. */
function ofClient(error: unknown): Error {
  const { name, message, status } = error as { name?: string; message?: string; status?: number };
  if (name === 'ConfluentSchemaRegistryError') return new NoVersion();
  const said = (message ?? String(error)).replace(`${CLIENT_ID} - `, '');
  const refused = name === 'ResponseError' && status !== undefined && status !== 400 && !isLater(status);
  return new RegistryError(refused ? 'refused' : 'unreachable', said, status);
}

function isRefused(error: unknown): boolean {
  return error instanceof RegistryError && error.kind === 'refused';
}

function failure(status: number, json: unknown): RegistryError {
  const { message } = fieldsOf(json);
  const said = typeof message === 'string' ? `: ${message}` : '';
  const what = isCredentials(status) ? 'it rejects the user name and password, ' : '';
  return new RegistryError(
    isLater(status) ? 'unreachable' : 'refused',
    `${what}status ${status}${said}`,
    status,
  );
}

export const isCredentials = (status: number) => status === 401 || status === 403;
const isLater = (status: number) => status >= 500 || status === 408 || status === 429;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fieldsOf(json: unknown): Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
}

/** Returns the registry's own code: 40403 = no such schema. */
function codeOf(json: unknown): string {
  return String(fieldsOf(json).error_code ?? '');
}

/** Returns an error's message: two refused addresses are an AggregateError without one of its own. */
function faultOf(error: unknown): string {
  const { message, code } = error as { readonly message?: string; readonly code?: string };
  return message || code || String(error);
}

export const compactOf = (schemaText: string) => JSON.stringify(JSON.parse(schemaText));

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MESSAGE_CHARACTERS_MAX ? `${line.slice(0, MESSAGE_CHARACTERS_MAX)}…` : line;
}
