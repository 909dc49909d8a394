/**
 * The search of the reference finds every error code, status, header, setting and command that the documentation has, in
 * tables and samples too, and no page swallows a placeholder such as <key> as if it were a tag.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { marked } from 'marked';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../services/api/error-codes.ts';
import { VARIABLES } from '../../services/config/config.ts';
import { webhookHeaders } from '../../services/domain/webhook-request.ts';
import { openapi } from '../support/api/openapi-check.ts';

interface Entry {
  readonly title: string;
  readonly kind: string;
  readonly url: string;
  readonly text: string;
}

const REFERENCE = new URL('../../schemas/reference/', import.meta.url);
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const entries: Entry[] = JSON.parse(readFileSync(new URL('search.json', REFERENCE), 'utf8'));

/** As the page's script compares. */
const isFound = (asked: string) =>
  entries.some(({ title, kind, url, text }) =>
    `${title} ${kind} ${url} ${text}`.toLowerCase().includes(asked.toLowerCase()),
  );

/** The commands in the code of a page, as "sim listen" or "operator keys create". */
function commandsIn(path: string): string[] {
  const found = read(path).matchAll(/\b(?:hookrail )?(sim|operator)((?: [a-z][a-z-]*){1,2})/g);
  return [...found].map(([, tool, words = '']) => `${tool}${words.split(' ').slice(0, 2).join(' ')}`);
}

const DELIVERY = {
  deliveryId: 'd',
  eventId: 'e',
  endpointId: 'p',
  ...{ entityId: 'n', subjectId: null, sequence: 1 },
  apiVersion: '2.3.8',
  trigger: 'test',
} as const;
const flat = webhookHeaders(
  { delivery: { ...DELIVERY, attempt: 1, occurredAt: 0 }, startedAt: 0, signature: 's' },
  'API-Key x',
);

test.each<[string, readonly string[]]>([
  ['error code', Object.keys(ERROR_CODES)],
  ['status of an error', Object.values(ERROR_CODES).map(({ status }) => `${status}`)],
  ['setting', Object.keys(VARIABLES)],
  ['header of a webhook', flat.map(([name = '']) => name)],
  [
    'header of a response',
    ['RateLimit', 'Retry-After', 'Idempotent-Replayed', 'Idempotency-Key', 'API-Version'],
  ],
  ['option', ['--forward-to', '--write-env', '--junit', 'junit', '--sink', '--types']],
  ['field', ['signing_secret', 'response_body_preview', 'failure_code', 'webhook_secret']],
])('the search finds every %s', (_kind, names) => {
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter((name) => !isFound(name))).toEqual([]);
});

test.each(['docs/simulator.md', 'docs/operate/tasks.md', 'docs/quickstart.md'])(
  'the search finds every command of %s by each of its words',
  (path) => {
    const commands = [...new Set(commandsIn(path))];
    expect(commands.length).toBeGreaterThan(0);
    const missed = commands.filter(
      (command) =>
        !entries.some((entry) =>
          command.split(' ').every((word) => `${entry.title} ${entry.text}`.includes(word)),
        ),
    );
    expect(missed).toEqual([]);
  },
);

/** Returns the parts of a text that Markdown takes for tags, without comments. */
function placeholdersIn(text: string): string[] {
  const found: string[] = [];
  marked.walkTokens(marked.lexer(text), (token) => {
    if (token.type === 'html' && !token.raw.trimStart().startsWith('<!--')) found.push(token.raw.trim());
  });
  return found;
}

describe('no page of the reference swallows a placeholder', () => {
  const pages = readdirSync(REFERENCE, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.html'))
    .map((path) => readFileSync(new URL(path, REFERENCE), 'utf8'));
  const shown = (placeholder: string) => placeholder.replaceAll('<', '&lt;').replaceAll('>', '&gt;');

  test.each([
    ...['docs/errors.md', 'docs/quickstart.md', 'docs/simulator.md', 'docs/configuration.md'],
    'docs/operate/tasks.md',
  ])('%s', (path) => {
    for (const placeholder of placeholdersIn(read(path)))
      expect(pages.filter((page) => page.includes(shown(placeholder))).length, placeholder).toBeGreaterThan(
        0,
      );
  });

  test('the errors’ own page', () => {
    const page = readFileSync(new URL('guides/errors.html', REFERENCE), 'utf8');
    const hint = 'Send the header Authorization: API-Key &lt;key&gt;.';
    const withIt = Object.values(ERROR_CODES).filter(({ hint }) => hint.includes('API-Key <key>'));
    expect(withIt.length).toBeGreaterThan(0);
    expect(page.split(hint).length).toBeGreaterThan(1);
    const missed = Object.values(ERROR_CODES).flatMap(({ hint }) =>
      (hint.match(/<[a-z_-]+>/g) ?? []).filter((placeholder) => !page.includes(shown(placeholder))),
    );
    expect(missed).toEqual([]);
  });

  test('the descriptions of the API', () => {
    const descriptions: string[] = [];
    JSON.stringify(openapi, (key, value) => {
      if ((key === 'description' || key === 'summary') && typeof value === 'string') descriptions.push(value);
      return value;
    });
    expect(descriptions.length).toBeGreaterThan(50);
    for (const placeholder of descriptions.flatMap(placeholdersIn))
      expect(
        pages.some((page) => page.includes(shown(placeholder))),
        placeholder,
      ).toBe(true);
  });
});
