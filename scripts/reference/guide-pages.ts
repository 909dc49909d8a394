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
  /** Guides, which are for merchants, unless it says otherwise. */
  readonly section?: Page['section'];
  readonly summary: string;
  readonly phrases?: readonly string[];
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
    path: 'guides/requests',
    title: 'Requests',
    summary: 'Keys, headers and rate limits of the API.',
    phrases: ['rate limit', 'authenticate', 'api key', 'header'],
    sources: [{ file: 'docs/api.md', sections: ['Authenticate', 'Headers'] }],
  },
  {
    path: 'guides/verify',
    title: 'Verify a webhook',
    summary: 'Check the signature, refuse old requests, drop duplicates.',
    phrases: ['duplicate', 'invalid signature', 'signature does not match', 'twice', 'receiver'],
    sources: [{ file: 'docs/api.md', sections: ['Receive'] }],
    more: () => html`${samples('A receiver', 'receiver')}${webhookRequest()}`,
  },
  {
    path: 'guides/order',
    title: 'Order',
    summary: 'Which of two webhooks is older, and how to apply nothing that is.',
    phrases: ['out of order', 'wrong order', 'older', 'overtaken'],
    sources: [{ file: 'docs/order.md' }],
  },
  {
    path: 'guides/retries',
    title: 'Retries and missed events',
    summary: 'When a delivery is attempted again, when it is given up, and how to get what was missed.',
    phrases: ['retry', 'missing webhook', 'resend', 'replay'],
    sources: [{ file: 'docs/api.md', sections: ['Delivery rules', 'Missed events'] }],
  },
  {
    path: 'guides/why-not-received',
    title: 'Why did I not get it?',
    summary: 'Every reason why a webhook did not arrive, and what to do.',
    phrases: ['why did i not get', 'not received', 'missing webhook', 'did not arrive', 'lost webhook'],
    sources: [{ file: 'docs/guides/why-not-received.md' }],
  },
  {
    path: 'guides/after-an-outage',
    title: 'After an outage of your own',
    summary: 'How deliveries went on while your receiver was down, and how to get what it missed.',
    phrases: ['outage', 'missing webhook', 'downtime', 'receiver was down', 'auto_disabled'],
    sources: [{ file: 'docs/guides/after-an-outage.md' }],
  },
  {
    path: 'guides/rotate-a-secret',
    title: 'Rotate a secret',
    summary: 'Change the signing secret of an endpoint without losing a webhook.',
    phrases: ['rotate secret', 'change secret', 'new secret', 'two secrets', 'leaked secret'],
    sources: [{ file: 'docs/guides/rotate-a-secret.md' }],
  },
  {
    path: 'guides/notices',
    title: 'Operational notices',
    summary:
      'Webhooks about hookrail itself: failing endpoints, late events, changed secrets. For Slack as well.',
    phrases: ['alert', 'slack', 'notification', 'endpoint.disabled', 'operational'],
    sources: [{ file: 'docs/guides/notices.md' }],
  },
  {
    path: 'guides/find',
    title: 'Find and count',
    summary: 'The lists of events and deliveries, what an id is, and how many attempts failed.',
    phrases: ['delivery log', 'metrics', 'statistics'],
    sources: [
      {
        file: 'docs/api.md',
        sections: ['Find by transaction', 'Find deliveries and events', 'Count attempts'],
      },
    ],
  },
  {
    path: 'guides/feed',
    title: 'Read every event once',
    summary: 'Keep a copy of your events, with their bodies, and find what you have not received.',
    phrases: ['reconcile', 'event feed'],
    sources: [{ file: 'docs/api.md', sections: ['Read every event once'] }],
    more: () => samples('A reconcile example', 'reconcile'),
  },
  {
    path: 'guides/stream',
    title: 'Follow what happens',
    summary: 'Every delivery and attempt as it happens, as server-sent events.',
    phrases: ['live stream', 'server-sent events'],
    sources: [{ file: 'docs/api.md', sections: ['Follow what happens'] }],
  },
  {
    path: 'guides/versions',
    title: 'Versions',
    summary: 'How an endpoint is pinned to a version of the API.',
    sources: [{ file: 'docs/api.md', sections: ['API versions'] }],
  },
  {
    path: 'guides/move-to-2.3.8',
    title: 'Move from 2.2.8 to 2.3.8',
    summary: 'Every difference between the versions, and how to switch without losing an event.',
    phrases: ['migrate', 'upgrade', 'difference', 'compare'],
    sources: [{ file: 'docs/guides/move-to-2.3.8.md' }],
  },
  {
    path: 'guides/errors',
    title: 'Errors',
    summary: 'Every error code of the API, with what to do.',
    phrases: ['error code', 'failure code'],
    sources: [{ file: 'docs/errors.md' }],
  },
  {
    path: 'guides/testing',
    title: 'Testing',
    section: 'Sandbox',
    summary: 'Play flows, send single events and make receivers fail, on your own machine.',
    phrases: ['hookrail sim', 'sandbox', 'simulator'],
    sources: [{ file: 'docs/simulator.md' }],
  },
  {
    path: 'guides/embed',
    title: 'Embed hookrail in your platform',
    section: 'Operators',
    summary:
      'Merchants, keys, links to the console, holds, replays and the quarantine by REST, for the platform’s backend.',
    phrases: ['platform api', 'plk', 'scope', 'embed', 'on-behalf-of', 'quarantine', 'dead letter'],
    sources: [{ file: 'docs/guides/embed.md' }],
  },
  {
    path: 'guides/configuration',
    title: 'Configuration',
    section: 'Operators',
    summary: 'Every setting of the service.',
    phrases: ['setting', 'environment variable'],
    sources: [{ file: 'docs/configuration.md' }],
  },
  {
    path: 'guides/operator',
    title: 'Operator tasks',
    section: 'Operators',
    summary: 'Tasks of those who run the service, and when they are due.',
    sources: [
      { file: 'docs/operate/tasks.md' },
      { file: 'docs/api.md', sections: ['Settings of the operator'] },
    ],
  },
  {
    path: 'guides/operator-commands',
    title: 'Operator commands',
    section: 'Operators',
    summary: 'Every command of those who run the service.',
    phrases: ['hookrail operator'],
    sources: [{ file: 'docs/operate/commands.md' }],
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
  links.set('docs/webhook-fields.md', address(path, 'events/catalogue'));
  links.set('docs/receivers', `${address(path, 'guides/verify')}#receivers`);
  links.set('openapi.yaml', `${address(path, '')}../openapi.yaml`);
  links.set('schemas/asyncapi.yaml', `${address(path, '')}../asyncapi.yaml`);
  return links;
}

function guidePage({ path, title, section = 'Guides', summary, phrases, sources, more }: Guide): Page {
  const links = linksFrom(path);
  const content = html`<div class="lead"><p>${summary}</p></div><div class="guide">${sources.map(({ file, sections }) => page(file, sections, links))}${more?.()}</div>`;
  const parts = [...content.text.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)].map(
    ([, id = '', label = '']) => ({
      id,
      label: label.replaceAll(/<[^>]+>/g, ''),
    }),
  );
  return {
    ...{ path, title, section, summary, content },
    ...(phrases && { phrases }),
    ...(parts.length > 1 ? { parts } : {}),
  };
}

/** The first page and the guides. */
export function guidePages(): Page[] {
  const pages = GUIDES.map(guidePage);
  const card = ({ path, title, summary }: Guide) =>
    html`<li><a href="${path}"><strong>${title}</strong><span>${summary}</span></a></li>`;
  const cards = (wanted: Guide['section']) => GUIDES.filter(({ section }) => section === wanted).map(card);
  const first: Page = {
    path: '',
    title: 'hookrail reference',
    label: 'Overview',
    section: 'Guides',
    summary: `The API of hookrail, version ${INFO.version}: operations, events and guides.`,
    content: html`<div class="lead">${prose(INFO.description)}</div><h2 id="guides">Guides</h2><ul class="cards">${cards(undefined)}</ul><h2 id="sandbox">Sandbox</h2><ul class="cards">${cards('Sandbox')}</ul><h2 id="reference">Reference</h2><ul class="cards"><li><a href="operations/webhook-endpoints"><strong>Operations</strong><span>Every operation with its parameters, answers, errors and samples in five languages.</span></a></li><li><a href="events/catalogue"><strong>Event catalogue</strong><span>Every event type with its states, fields and bodies, by version.</span></a></li><li><a href="../openapi.yaml"><strong>openapi.yaml</strong><span>The same as one OpenAPI 3.1 document, for tools.</span></a></li><li><a href="../asyncapi.yaml"><strong>asyncapi.yaml</strong><span>Events on Kafka and webhooks as one AsyncAPI 3 document, for tools.</span></a></li><li><a href="../llms.txt"><strong>llms.txt</strong><span>Every page as Markdown, for language models.</span></a></li></ul>`,
  };
  return [first, ...pages];
}
