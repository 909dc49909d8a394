import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The operations: written by hand, complete in itself, and used to validate requests. */
export const OPENAPI_FILE = fileURLToPath(new URL('../../openapi.yaml', import.meta.url));
/** The webhooks that endpoints receive: generated from the catalog and the samples. */
export const WEBHOOKS_FILE = fileURLToPath(new URL('../../schemas/webhooks.yaml', import.meta.url));

/**
 * Returns the whole description as it is served: operations and webhooks in one self-contained YAML document. Joined as
 * text: parsing and writing a document of this size would block everything else for a second.
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

/** Returns the sections of `components` of both. A name in both would occur twice, which parsers reject. */
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

/** Returns a block mapping's entries by key, each with its key's line. Lines before the first key are omitted. */
function blocksOf(text: string, indent: number): Map<string, string> {
  const key = new RegExp(`^(?= {${indent}}[\\w-]+:)`, 'm');
  const blocks = text.split(key).filter((block) => /^ *[\w-]+:/.test(block));
  return new Map(blocks.map((block) => [block.trimStart().split(':', 1)[0] ?? '', block]));
}

function withoutKey(block: string): string {
  return block.slice(block.indexOf('\n') + 1);
}
