import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { DESCRIPTION_FILE } from '../../services/api/description.ts';
import { named } from '../openapi/references.ts';
import { NOTICE_WEBHOOK } from '../webhooks/notices.ts';

/** A JSON Schema of the description, with what this renderer reads of it. */
export interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly 'x-known-values'?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Content {
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  readonly content?: Readonly<Record<string, Content>>;
  readonly 'x-codes'?: readonly string[];
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** The scheme whose key the operation needs. */
  readonly scheme: string;
  /** The scope that a key of the platform needs. */
  readonly scope?: string;
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly description?: string; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Response>>;
}

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape; what is read of it is typed here.
const document: any = parse(readFileSync(DESCRIPTION_FILE, 'utf8'));

export const INFO: { readonly title: string; readonly version: string; readonly description: string } =
  document.info;

export const TAGS: readonly { readonly name: string; readonly description: string }[] = document.tags;

/** Follows a reference, and a reference to a reference, to what it names. Throws when there is nothing. */
export function followed<T extends object>(node: T): T {
  const { $ref } = node as { $ref?: string };
  if ($ref === undefined) return node;
  const target = named(document, $ref, DESCRIPTION_FILE) as T;
  const { $ref: _, ...beside } = node as { $ref?: string };
  return followed({ ...target, ...beside });
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

/** Returns every operation with its references to parameters, bodies, responses and examples followed. */
export function allOperations(): readonly Operation[] {
  return Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((name) => METHODS.includes(name))
      .map((method) => {
        // biome-ignore lint/suspicious/noExplicitAny: see the document above.
        const raw = item[method] as any;
        const security: readonly Record<string, unknown>[] = raw.security ?? document.security;
        return {
          method: method.toUpperCase(),
          path,
          operationId: raw.operationId,
          tag: raw.tags[0],
          summary: raw.summary,
          description: raw.description,
          scheme: Object.keys(security[0] ?? {})[0] ?? '',
          ...(raw['x-scope'] ? { scope: raw['x-scope'] } : {}),
          parameters: [...((item.parameters as object[]) ?? []), ...(raw.parameters ?? [])].map(
            (parameter) => followed(parameter) as Parameter,
          ),
          ...(raw.requestBody ? { body: withExamples(followed(raw.requestBody)) } : {}),
          responses: Object.fromEntries(
            Object.entries<object>(raw.responses).map(([status, response]) => [
              status,
              withExamples(followed(response) as Response),
            ]),
          ),
        };
      }),
  );
}

function withExamples<T extends { readonly content?: Readonly<Record<string, Content>> }>(holder: T): T {
  if (!holder.content) return holder;
  const content = Object.entries(holder.content).map(([type, { schema, examples }]) => [
    type,
    {
      ...(schema ? { schema } : {}),
      examples: Object.fromEntries(
        Object.entries(examples ?? {}).map(([name, example]) => [name, followed(example)]),
      ),
    },
  ]);
  return { ...holder, content: Object.fromEntries(content) };
}

export interface Webhook {
  readonly type: string;
  readonly description: string;
  readonly headers: readonly Parameter[];
  /** By the name of the body's schema: `KYC.FULL_USER.2.3.8`, or with a status `fiatToCrypto.ON_HOLD.ON_HOLD_KYC.2.3.8`. */
  readonly examples: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

/** Returns the webhooks that endpoints receive, one per event type. */
export function allWebhooks(): readonly Webhook[] {
  // biome-ignore lint/suspicious/noExplicitAny: see the document above.
  return Object.entries<any>(document.webhooks)
    .filter(([name]) => name !== NOTICE_WEBHOOK)
    .map(([type, { post }]) => ({
      type,
      description: post.description,
      headers: post.parameters.map((parameter: object) => followed(parameter) as Parameter),
      examples: post.requestBody.content['application/json'].examples,
    }));
}
