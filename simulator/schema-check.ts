import { isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import { nearest } from './nearest.ts';

/**
 * The part of JSON Schema that the scenario's schema uses, checked on YAML nodes, so that the published schema is the
 * one that is enforced, and every finding has its line. An unknown keyword throws, so that none is ignored.
 */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface Finding {
  /** Offset in the text. */
  readonly offset: number;
  readonly message: string;
}

const ANNOTATIONS = ['$schema', '$id', 'title', 'description'];
const KEYWORDS = [
  'type',
  'required',
  'properties',
  'additionalProperties',
  'enum',
  'pattern',
  'maxLength',
  'items',
  'minItems',
  'maxItems',
];

/** Returns everything that is wrong with a node. `path` names it in messages: "steps[2].emit". */
export function check(schema: Schema, node: Node | null, path: string, offset = 0): readonly Finding[] {
  const unknown = Object.keys(schema).find((word) => !ANNOTATIONS.includes(word) && !KEYWORDS.includes(word));
  if (unknown) throw new Error(`schema-check does not know the keyword ${unknown} at ${path}`);
  const at = node?.range?.[0] ?? offset;
  const finding = (message: string): Finding => ({
    offset: at,
    message: `${path || 'the scenario'} ${message}`,
  });
  const types = schema.type === undefined ? [] : [schema.type].flat();
  const actual = typeOf(node);
  if (types.length > 0 && !types.includes(actual)) {
    return [finding(`must be ${types.map(withArticle).join(' or ')}, not ${withArticle(actual)}`)];
  }
  if (isMap(node)) return checkMap(schema, node, path, finding);
  if (isSeq(node)) return checkSeq(schema, node, path, finding);
  return checkText(schema, node, finding);
}

function checkText(schema: Schema, node: Node | null, finding: (message: string) => Finding): Finding[] {
  const value = isScalar(node) ? node.value : null;
  if (typeof value !== 'string') return [];
  if (schema.enum && !schema.enum.includes(value)) {
    return [finding(`"${value}" is not one of ${schema.enum.join(', ')}${nearest(value, schema.enum)}`)];
  }
  if (schema.pattern && !new RegExp(schema.pattern).test(value)) {
    return [finding(`"${value}" does not match ${schema.pattern}`)];
  }
  if (schema.maxLength !== undefined && [...value].length > schema.maxLength) {
    return [finding(`is longer than ${schema.maxLength} characters`)];
  }
  return [];
}

function checkSeq(
  schema: Schema,
  node: YAMLSeq,
  path: string,
  finding: (message: string) => Finding,
): Finding[] {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items } = schema;
  if (node.items.length < minItems) return [finding(`needs at least ${minItems}`)];
  if (node.items.length > maxItems) return [finding(`takes at most ${maxItems}`)];
  if (!items) return [];
  return node.items.flatMap((item, i) => check(items, item as Node, `${path}[${i}]`));
}

function checkMap(
  schema: Schema,
  node: YAMLMap,
  path: string,
  finding: (message: string) => Finding,
): Finding[] {
  const properties = schema.properties ?? {};
  const findings: Finding[] = [];
  for (const name of schema.required ?? []) if (!node.has(name)) findings.push(finding(`has no "${name}"`));
  for (const pair of node.items as Pair<Node, Node | null>[]) {
    const name = isScalar(pair.key) ? String(pair.key.value) : '';
    const offset = pair.key.range?.[0] ?? 0;
    const rest = schema.additionalProperties ?? true;
    const below = Object.hasOwn(properties, name) ? properties[name] : rest;
    const where = path === '' ? name : `${path}.${name}`;
    if (below === false) {
      const message = `${where} is not known here${nearest(name, Object.keys(properties))}`;
      findings.push({ offset, message });
    } else if (typeof below === 'object') findings.push(...check(below, pair.value, where, offset));
  }
  return findings;
}

function typeOf(node: Node | null): string {
  if (isMap(node)) return 'object';
  if (isSeq(node)) return 'array';
  const value = isScalar(node) ? node.value : null;
  return value === null || value === undefined ? 'null' : typeof value;
}

function withArticle(type: string): string {
  if (type === 'null') return 'empty';
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}
