import { readFileSync } from 'node:fs';
import { INFO } from './description.ts';
import { webhookRequest } from './event-pages.ts';
import { codeTabs, type Language } from './highlight.ts';
import { type Html, html, slugOf } from './html.ts';
import { address, type Page } from './layout.ts';
import { type Links, page, prose, sectionsOf } from './markdown.ts';

interface Guide {
  readonly path: string;
  readonly title: string;
  readonly summary: string;
  /** Pages of the repository, or sections of them, in this order. */
  readonly sources: readonly { readonly file: string; readonly sections?: readonly string[] }[];
  /** HTML after the text of the sources. */
  readonly more?: () => Html;
}

/** The guides are what docs/ says, so that nothing is written twice. */
const GUIDES: readonly Guide[] = [
  {
    path: 'guides/quickstart',
    title: 'Quickstart',
    summary: 'From nothing to a verified webhook, with curl.',
    sources: [{ file: 'docs/quickstart.md' }],
  },
  {
    path: 'guides/verify',
    title: 'Verify a webhook',
    summary: 'Check the signature, refuse old requests, drop duplicates.',
    sources: [{ file: 'docs/api.md', sections: ['Receive'] }],
    more: () => html`${samples('A receiver', 'receiver')}${webhookRequest()}`,
  },
  {
    path: 'guides/order',
    title: 'Order',
    summary: 'Which of two webhooks is older, and how to apply nothing that is.',
    sources: [{ file: 'docs/order.md' }],
  },
  {
    path: 'guides/retries',
    title: 'Retries and missed events',
    summary: 'When a delivery is attempted again, when it is given up, and how to get what was missed.',
    sources: [{ file: 'docs/api.md', sections: ['Delivery rules', 'Missed events'] }],
  },
  {
    path: 'guides/feed',
    title: 'Read every event once',
    summary: 'Keep a copy of your events, with their bodies, and find what you have not received.',
    sources: [{ file: 'docs/api.md', sections: ['Read every event once'] }],
    more: () => samples('A reconcile example', 'reconcile'),
  },
  {
    path: 'guides/errors',
    title: 'Errors',
    summary: 'Every error code of the API, with what to do.',
    sources: [{ file: 'docs/errors.md' }],
  },
  {
    path: 'guides/testing',
    title: 'Testing',
    summary: 'Play flows, send single events and make receivers fail, on your own machine.',
    sources: [{ file: 'docs/simulator.md' }],
  },
  {
    path: 'guides/configuration',
    title: 'Configuration',
    summary: 'Every setting of the service.',
    sources: [{ file: 'docs/configuration.md' }],
  },
  {
    path: 'guides/operator',
    title: 'Operator commands',
    summary: 'The commands of those who run the service, and when to use them.',
    sources: [{ file: 'docs/operate/tasks.md' }],
  },
  {
    path: 'guides/versions',
    title: 'Versions',
    summary: 'How an endpoint is pinned to a version of the API.',
    sources: [{ file: 'docs/api.md', sections: ['API versions'] }],
  },
];

const LANGUAGES: readonly { readonly label: string; readonly language: Language; readonly ending: string }[] =
  [
    { label: 'Node', language: 'js', ending: 'mjs' },
    { label: 'Python', language: 'python', ending: 'py' },
    { label: 'Go', language: 'go', ending: 'go' },
    { label: 'PHP', language: 'php', ending: 'php' },
  ];

/** Returns a program of docs/receivers in every language. */
function samples(title: string, name: 'receiver' | 'reconcile'): Html {
  const tabs = LANGUAGES.map(({ label, language, ending }) => {
    const file = new URL(`../../docs/receivers/${name}.${ending}`, import.meta.url);
    return { label, language, code: readFileSync(file, 'utf8').trimEnd() };
  });
  const id = ID_OF_SAMPLE[name];
  return html`<h2 id="${id}">${title}</h2>${codeTabs(id, `${title}: the whole program`, tabs)}`;
}

const ID_OF_SAMPLE = { receiver: 'receivers', reconcile: 'reconcile' } as const;

/** Where a page of docs/ and its sections are found, seen from a guide. */
function linksFrom(path: string): Links {
  const links = new Map<string, string>();
  for (const guide of GUIDES) {
    const to = address(path, guide.path);
    for (const { file, sections } of guide.sources) {
      if (sections === undefined) links.set(file, to);
      const headings = [...sectionsOf(file, sections).matchAll(/^##+ (.+)$/gm)].map(([, text = '']) =>
        slugOf(text),
      );
      for (const heading of headings) links.set(`${file}#${heading}`, `${to}#${heading}`);
    }
  }
  for (const { ending } of LANGUAGES) {
    links.set(`docs/receivers/receiver.${ending}`, `${address(path, 'guides/verify')}#receivers`);
    links.set(`docs/receivers/reconcile.${ending}`, `${address(path, 'guides/feed')}#reconcile`);
  }
  links.set('docs/api.md', address(path, 'guides/retries'));
  links.set('docs/receivers', `${address(path, 'guides/verify')}#receivers`);
  links.set('openapi.yaml', `${address(path, '')}../openapi.yaml`);
  return links;
}

function guidePage({ path, title, summary, sources, more }: Guide): Page {
  const links = linksFrom(path);
  const content = html`<div class="lead"><p>${summary}</p></div><div class="guide">${sources.map(({ file, sections }) => page(file, sections, links))}${more?.()}</div>`;
  const parts = [...content.text.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)].map(
    ([, id = '', label = '']) => ({
      id,
      label: label.replaceAll(/<[^>]+>/g, ''),
    }),
  );
  return { path, title, section: 'Guides', summary, content, ...(parts.length > 1 ? { parts } : {}) };
}

/** The first page and the guides. */
export function guidePages(): Page[] {
  const pages = GUIDES.map(guidePage);
  const card = ({ path, title, summary }: Guide) =>
    html`<li><a href="${path}"><strong>${title}</strong><span>${summary}</span></a></li>`;
  const first: Page = {
    path: '',
    title: 'hookrail reference',
    label: 'Overview',
    section: 'Guides',
    summary: `The API of hookrail, version ${INFO.version}: operations, events and guides.`,
    content: html`<div class="lead">${prose(INFO.description)}</div><h2 id="guides">Guides</h2><ul class="cards">${GUIDES.map(card)}</ul><h2 id="reference">Reference</h2><ul class="cards"><li><a href="operations/webhook-endpoints"><strong>Operations</strong><span>Every operation with its parameters, answers, errors and samples in five languages.</span></a></li><li><a href="events/catalogue"><strong>Event catalogue</strong><span>Every event type with its states, fields and bodies, by version.</span></a></li><li><a href="../openapi.yaml"><strong>openapi.yaml</strong><span>The same as one OpenAPI 3.1 document, for tools.</span></a></li></ul>`,
  };
  return [first, ...pages];
}
