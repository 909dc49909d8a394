/**
 * The guides of the reference speak of a merchant's world: base URL, key, curl, a receiver of one's own. Commands of a
 * checkout and settings of the service stand where the page says that they are for those who run it.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { guidePages } from '../../scripts/reference/guide-pages.ts';
import { type Explained, explainDelivery, explainSkip } from '../../services/domain/failures/explanation.ts';
import { SKIP_REASONS } from '../../services/domain/journal.ts';
import { CANCEL_REASONS } from '../../services/domain/outcome.ts';
import { PARKED_REASONS } from '../../services/domain/task.ts';

const guides = guidePages().filter(({ section, path }) => section === 'Guides' && path !== '');
/** Commands and settings that only the operator of the service can use. */
const NOT_THEIRS =
  /\bnpm |\bnpx\b|\bcheckout\b|\bHOOKRAIL_(?!BASE_URL\b|API_KEY\b)[A-Z_]+|hookrail (?:operator|serve|start)\b/;
/** A paragraph that says whose it is, and the part of the quickstart for those who have the service. */
const MARKED = /\boperators?\b/i;
const OWN_MACHINE = '<h2 id="on-your-own-machine"';

test.each(guides.map(({ path, content }) => [path, content.text] as const))(
  'the guide %s has nothing that a merchant cannot do',
  (_path, html) => {
    const [theirs = ''] = html.split(OWN_MACHINE);
    const blocks = theirs
      .split(/<\/(?:p|li|tr|h[1-4]|pre)>/)
      .map((block) => block.replaceAll(/<[^>]+>/g, ''));
    expect(blocks.filter((block) => NOT_THEIRS.test(block) && !MARKED.test(block))).toEqual([]);
  },
);

test('the part that needs the service itself is there, and only in the quickstart', () => {
  const having = guides.filter(({ content }) => content.text.includes(OWN_MACHINE)).map(({ path }) => path);
  expect(having).toEqual(['guides/quickstart']);
  const [, own = ''] = guides[0]?.content.text.split(OWN_MACHINE) ?? [];
  expect(own).toMatch(NOT_THEIRS);
});

test('every reason why an event was not sent is told, with its sentence and what helps', () => {
  const page = guides.find(({ path }) => path === 'guides/why-not-received')?.content.text ?? '';
  const shown = page
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ');
  for (const reason of [...SKIP_REASONS, 'no_endpoint'] as const) {
    expect(shown).toContain(reason);
    for (const sentence of explainSkip(reason).split(/(?<=\.) /)) expect(shown).toContain(sentence);
  }
  for (const reason of CANCEL_REASONS) expect(shown).toContain(`cancelled: ${reason}`);
  for (const reason of PARKED_REASONS) expect(shown).toContain(`parked: ${reason}`);
});

test('the lines about attempts begin as the service writes them', () => {
  const page = readFileSync(new URL('../../docs/guides/why-not-received.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split('## Attempts that failed');
  const beginnings = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, line = '']) => line.replace(/…$/, ''));
  const delivery: Explained = {
    ...{ status: 'failed', cancelReason: null, parkedReason: null, attemptsMax: 7, apiVersion: '2.3.8' },
    ...{
      attemptsMade: 2,
      nextAttemptAt: 1,
      lastAttemptAt: 1,
      lastResponseStatus: 500,
      lastFailureCode: 'http_5xx',
    },
  };
  const gone = { attemptsMade: 1, lastResponseStatus: 410, lastFailureCode: 'endpoint_gone' } as const;
  const lines = [
    delivery,
    { ...delivery, status: 'pending', attemptsMade: 0 } as const,
    { ...delivery, status: 'exhausted', attemptsMade: 7 } as const,
    { ...delivery, status: 'exhausted', attemptsMade: 1 } as const,
    { ...delivery, ...gone, status: 'refused' } as const,
    { ...delivery, status: 'delivered', lastResponseStatus: 200 } as const,
  ].map((each) => explainDelivery(each, false));
  expect(beginnings.length).toBe(lines.length);
  for (const [index, line] of lines.entries())
    expect(line.startsWith(beginnings[index] ?? '?'), line).toBe(true);
});
