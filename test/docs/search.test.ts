/**
 * The search of the reference finds every error code, status, header, setting and command that the documentation has, in
 * tables and samples too, with the page that explains it among the first three results; and no page swallows a placeholder such as <key> as if it were a tag.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { marked } from 'marked';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../services/api/error-codes.ts';
import { VARIABLES } from '../../services/config/config.ts';
import { CODE_SIGNS } from '../../services/domain/failures/failure-codes.ts';
import { webhookHeaders } from '../../services/domain/webhook-request.ts';
import { COMMANDS } from '../../services/operator/cli/table.ts';
import { SIMULATOR } from '../../simulator/commands.ts';
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

// It is a script of pages, so it has no types.
const { search } = (await import(
  new URL('../../scripts/reference/assets/search.js', import.meta.url).href
)) as { search: (entries: readonly Entry[], asked: string) => Entry[] };

/** The pages of the first three results, as a reader sees them. */
const firstPages = (asked: string) =>
  search(entries, asked)
    .slice(0, 3)
    .map(({ url }) => url.split('#')[0] ?? '');

const isFound = (asked: string) => search(entries, asked).length > 0;

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

/** The commands of `hookrail sim`, those of several words too, as the page of the simulator lists them. */
const SIM_COMMANDS = [...read('docs/simulator.md').matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|/gm)]
  .flatMap(([, cell = '']) => {
    const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    const group = /^([a-z]+) [a-z]+$/.exec(names[0] ?? '')?.[1];
    return names.map((name) => (group === undefined || name.startsWith(group) ? name : `${group} ${name}`));
  })
  .filter((name) => SIMULATOR.some(({ command }) => command.split(' ')[0] === name.split(' ')[0]));

const OPERATOR_COMMANDS = Object.entries(COMMANDS)
  .filter(([, { hasNoLine }]) => !hasNoLine)
  .map(([name]) => name);

/** Every header that the API's description names, of requests and of responses. */
const API_HEADERS = new Set<string>();
const { responses, parameters } = openapi.components;
JSON.stringify([openapi.paths, responses, parameters], (key, value) => {
  if (key === 'headers' && value !== null && typeof value === 'object')
    for (const name of Object.keys(value)) API_HEADERS.add(name);
  if (value?.in === 'header' && value.name !== undefined) API_HEADERS.add(value.name);
  return value;
});
const OF_WEBHOOKS = /^(webhook-|user-agent)/i;
const WEBHOOK_HEADERS = flat.filter((name, index) => index % 2 === 0 && OF_WEBHOOKS.test(name));

test.each<[string, string, readonly string[], readonly string[]]>([
  ['error code', 'guides/errors', Object.keys(ERROR_CODES), [...Object.keys(CODE_SIGNS)]],
  ['setting', 'guides/configuration', Object.keys(VARIABLES), []],
  ['command of sim', 'guides/testing', SIM_COMMANDS, SIM_COMMANDS.map((name) => `sim ${name}`)],
  [
    'operator command',
    'guides/operator-commands',
    OPERATOR_COMMANDS,
    OPERATOR_COMMANDS.map((name) => `hookrail operator ${name}`),
  ],
  ['header of a webhook', 'guides/verify', WEBHOOK_HEADERS, []],
  ['header of the API', 'guides/requests', [...API_HEADERS].filter((name) => !OF_WEBHOOKS.test(name)), []],
])('the first three results for every %s have the page %s', (_kind, page, names, more) => {
  expect(names.length).toBeGreaterThan(8);
  const missed = [...names, ...more].filter((name) => !firstPages(name).includes(page));
  expect(missed.map((name) => [name, firstPages(name)])).toEqual([]);
});

test.each([
  ['why did I not get', 'guides/why-not-received'],
  ['Why did I not get my webhook?', 'guides/why-not-received'],
  ['missing webhook', 'guides/why-not-received'],
  ['missing webhook', 'guides/after-an-outage'],
  ['missing webhooks', 'guides/retries'],
  ['not received', 'guides/why-not-received'],
  ['rotate secret', 'guides/rotate-a-secret'],
  ['rotate the signing secret', 'operations/webhook-endpoints'],
  ['outage', 'guides/after-an-outage'],
  ['duplicate', 'guides/verify'],
  ['duplicates', 'guides/verify'],
  ['out of order', 'guides/order'],
  ['migrate to 2.3.8', 'guides/move-to-2.3.8'],
  ['environment variable', 'guides/configuration'],
])('the first three results for "%s" have the page %s', (asked, page) => {
  expect(firstPages(asked)).toContain(page);
});

test('every result leads to a place of a page that exists', () => {
  const missing = entries.filter(({ url }) => {
    const [path = '', id] = url.split('#');
    const page = readFileSync(new URL(`${path || 'index'}.html`, REFERENCE), 'utf8');
    return id !== undefined && !page.includes(`id="${id}"`);
  });
  expect(missing).toEqual([]);
  expect(search(entries, 'nothing like this')).toEqual([]);
  expect(search(entries, '  ')).toEqual([]);
});

test.each<[string, readonly string[]]>([
  ['error code', Object.keys(ERROR_CODES)],
  ['status of an error', Object.values(ERROR_CODES).map(({ status }) => `${status}`)],
  ['setting', Object.keys(VARIABLES)],
  ['header of a webhook', flat.filter((_, index) => index % 2 === 0)],
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
