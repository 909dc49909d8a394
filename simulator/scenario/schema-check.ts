import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from 'yaml';
import { didYouMean } from '../../services/messages/did-you-mean.ts';
import schema from './scenario.schema.json' with { type: 'json' };

export interface Finding {
  /** Offset in the text. */
  readonly offset: number;
  readonly message: string;
}

/** Compiled on first use: most commands read no scenario. */
let compiled: ValidateFunction | undefined;

/** Returns everything in which a scenario differs from the published schema. `value`: the document as plain data. */
export function schemaFindings(document: Document, value: unknown): readonly Finding[] {
  compiled ??= new Ajv2020({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    strictNumbers: false,
  }).compile(schema);
  if (compiled(value)) return [];
  // Of an alternative, its own error says enough; those of its branches would each ask for another property.
  const errors = (compiled.errors ?? []).filter(
    ({ schemaPath }) => !/\/(oneOf|anyOf)\/\d+\//.test(schemaPath),
  );
  const findings = errors.map((error) => findingOf(document, error));
  return findings.sort((a, b) => a.offset - b.offset);
}

function findingOf(document: Document, error: ErrorObject): Finding {
  const path = error.instancePath.split('/').slice(1).map(unescaped);
  if (error.keyword === 'additionalProperties') {
    const name: string = error.params.additionalProperty;
    const { keyOffset, where } = placeOf(document, [...path, name]);
    const known = Object.keys(error.parentSchema?.properties);
    return { offset: keyOffset, message: `${where} is not a known property${didYouMean(name, known)}` };
  }
  const { offset, where } = placeOf(document, path);
  return { offset, message: `${where || 'the scenario'} ${faultOf(error)}` };
}

function faultOf({ keyword, params, data, message, schema: alternatives }: ErrorObject): string {
  switch (keyword) {
    case 'oneOf':
    case 'anyOf': {
      const names = (alternatives as { readonly required: readonly string[] }[]).flatMap(
        ({ required }) => required,
      );
      return `needs ${keyword === 'oneOf' ? 'exactly one' : 'one'} of ${names.join(', ')}`;
    }
    case 'type':
      return `must be ${[params.type].flat().map(withArticle).join(' or ')}, not ${withArticle(typeOf(data))}`;
    case 'required':
      return `has no "${params.missingProperty}"`;
    case 'enum': {
      const allowed: readonly string[] = params.allowedValues;
      return `"${data}" is not one of ${allowed.join(', ')}${didYouMean(String(data), allowed)}`;
    }
    case 'pattern':
      return `"${data}" does not match ${params.pattern}`;
    case 'maxLength':
      return `is longer than ${params.limit} characters`;
    case 'minItems':
      return `needs at least ${params.limit}`;
    case 'maxItems':
      return `allows at most ${params.limit}`;
    default:
      return String(message);
  }
}

/**
 * Returns where a value and its key stand in the text, or the last one on the way that exists, and what messages call
 * the value: "steps[2].emit".
 */
export function placeOf(
  document: Document,
  path: readonly (string | number)[],
): { readonly offset: number; readonly keyOffset: number; readonly where: string } {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  let keyOffset = offset;
  let where = '';
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isSeq(node)) {
      node = node.items[Number(part)];
      keyOffset = startOf(node) ?? offset;
      where += `[${part}]`;
    } else {
      const pair = isMap(node) ? node.items.find(({ key }) => keyName(key) === part) : undefined;
      node = pair?.value;
      keyOffset = startOf(pair?.key) ?? offset;
      where = where === '' ? String(part) : `${where}.${part}`;
    }
    offset = startOf(node) ?? keyOffset;
  }
  return { offset, keyOffset, where };
}

function keyName(key: unknown): string {
  return isScalar(key) ? String(key.value ?? '') : '';
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function typeOf(data: unknown): string {
  if (data === null || data === undefined) return 'null';
  return Array.isArray(data) ? 'array' : typeof data;
}

function withArticle(type: string): string {
  if (type === 'null') return 'empty';
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

/** Undoes the escapes of a JSON pointer. */
function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
