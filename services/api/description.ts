import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The operations: written by hand. It stands for itself, and is what requests are validated against. */
export const OPENAPI_FILE = fileURLToPath(new URL('../../openapi.yaml', import.meta.url));
/** What endpoints receive: generated from the catalog and the samples. */
export const WEBHOOKS_FILE = fileURLToPath(new URL('../../schemas/webhooks.yaml', import.meta.url));

/**
 * The whole description as it is served: operations and webhooks in one YAML document, which refers to nothing outside
 * of it. Put together as text: to parse and write a document of this size would hold everything else up for a second.
 */
export function descriptionText(): string {
  const webhooks = blocksOf(readFileSync(WEBHOOKS_FILE, 'utf8'), 0);
  const parts = [...blocksOf(readFileSync(OPENAPI_FILE, 'utf8'), 0)].map(([name, text]) => {
    if (name === 'tags') return text + withoutKey(webhooks.get(name) ?? '');
    if (name === 'components') return `components:\n${joined(text, webhooks.get(name) ?? '')}`;
    return text;
  });
  return parts.join('') + (webhooks.get('webhooks') ?? '');
}

/** The sections of `components` of both. A name that both have would be twice in the text, which no parser accepts. */
function joined(operations: string, webhooks: string): string {
  const ours = blocksOf(withoutKey(operations), 2);
  const theirs = blocksOf(withoutKey(webhooks), 2);
  const sections = new Set([...ours.keys(), ...theirs.keys()]);
  return [...sections]
    .map((name) => {
      const added = theirs.get(name) ?? '';
      const present = ours.get(name);
      return present === undefined ? added : present + withoutKey(added);
    })
    .join('');
}

/** A block mapping's entries by key, each with its key's line. What is before the first key is left out. */
function blocksOf(text: string, indent: number): Map<string, string> {
  const key = new RegExp(`^(?= {${indent}}[\\w-]+:)`, 'm');
  const blocks = text.split(key).filter((block) => /^ *[\w-]+:/.test(block));
  return new Map(blocks.map((block) => [block.trimStart().split(':', 1)[0] ?? '', block]));
}

function withoutKey(block: string): string {
  return block.slice(block.indexOf('\n') + 1);
}
