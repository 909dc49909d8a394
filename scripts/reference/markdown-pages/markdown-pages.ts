import { posix } from 'node:path';
import { INFO } from '../description.ts';
import { address, type Page } from '../layout.ts';
import { markdownOf } from './block-markdown.ts';
import type { LinkTo } from './inline-markdown.ts';

/** The file of a page's Markdown, below the folder of the reference. */
export function markdownFile({ path }: Pick<Page, 'path'>): string {
  return `${path || 'index'}.md`;
}

/** The whole page as Markdown. */
export function markdownPage(page: Page, pages: readonly Page[]): string {
  return `# ${page.title}\n\n${markdownOf(page.content.text, linksFrom(page, pages))}\n`;
}

/** A link to another page leads to its Markdown; one to anything else stays. Throws where nothing is. */
function linksFrom(from: Page, pages: readonly Page[]): LinkTo {
  const files = new Map(pages.map((page) => [page.path, markdownFile(page)]));
  const folder = posix.dirname(`/docs/${from.path}`);
  return (href) => {
    if (/^https?:/.test(href) || href.startsWith('#')) return href;
    const [path = '', id] = href.split('#');
    const target = posix.join(from.path === '' ? '/docs/' : folder, path);
    if (!target.startsWith('/docs')) return href;
    const file = files.get(target.replace(/^\/docs\/?/, ''));
    if (file === undefined) throw new Error(`/docs/${from.path} links to ${href}, which is no page`);
    return address(from.path, file) + (id === undefined ? '' : `#${id}`);
  };
}

const INTRODUCTION = [
  'Merchants receive events of their users and transactions as signed HTTPS requests, and manage endpoints over REST.',
  'Producers publish events over REST or Kafka. Every page of the reference is listed here as Markdown; without the',
  'ending `.md` it is the same page as HTML.',
].join(' ');

/** Documents for tools that say the same as the pages, and what the service tells about itself. */
const OTHERS: readonly (readonly [address: string, says: string])[] = [
  ['openapi.yaml', 'The operations, and the webhooks that endpoints receive, as OpenAPI 3.1.'],
  ['asyncapi.yaml', 'The events that producers publish on Kafka, and the webhooks, as AsyncAPI 3.'],
  ['.well-known/webhook-sources', 'The addresses from which this service sends webhooks, for firewalls.'],
];

/** The list of all pages for language models (llmstxt.org), which is served at /llms.txt. */
export function llmsText(pages: readonly Page[]): string {
  const sections = [...new Set(pages.map(({ section }) => section))];
  const line = (title: string, target: string, says: string) =>
    `- [${title}](${target}): ${says.replaceAll(/\s+/g, ' ').trim()}`;
  const ofSection = (section: Page['section']) =>
    pages
      .filter((page) => page.section === section)
      .map((page) => line(page.title, `docs/${markdownFile(page)}`, page.summary));
  return `${[
    '# hookrail',
    `> Webhooks of a payments platform: the API, version ${INFO.version}, its events, and guides.`,
    INTRODUCTION,
    ...sections.map((section) => `## ${section}\n\n${ofSection(section).join('\n')}`),
    `## Descriptions for tools\n\n${OTHERS.map(([target, says]) => line(target, target, says)).join('\n')}`,
  ].join('\n\n')}\n`;
}
