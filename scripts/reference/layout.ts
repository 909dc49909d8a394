import { API_VERSION_DEFAULT, API_VERSIONS } from '../../services/domain/endpoint.ts';
import { Html, html } from './html.ts';
import { PLACEHOLDERS } from './placeholders.ts';

/** A page of the reference. */
export interface Page {
  /** Below /docs/, without an ending; empty for the first page. */
  readonly path: string;
  readonly title: string;
  /** For the list of pages, when the title is too long there. */
  readonly label?: string;
  readonly section: (typeof SECTIONS)[number];
  readonly summary: string;
  /** The questions that the page answers, in the words of those who ask: the search finds it by each. */
  readonly phrases?: readonly string[];
  readonly content: Html;
  /** The headings listed below the page in the list of pages. */
  readonly parts?: readonly { readonly id: string; readonly label: string; readonly method?: string }[];
  /** Whether the page differs between versions of the API, and so has the switch. */
  readonly hasVersions?: boolean;
  /** The right-hand column holds samples. */
  readonly isWide?: boolean;
}

/** Guides, operations and events are for merchants. */
const SECTIONS = ['Guides', 'Operations', 'Events', 'Sandbox', 'Producers', 'Operators'] as const;

/** The address of a page seen from another one, so that the reference works below any path. */
export function address(from: string, to: string): string {
  const up = '../'.repeat(from.split('/').length - 1);
  return up + to || './';
}

function navigation(pages: readonly Page[], at: Page): Html {
  const entry = (page: Page) => {
    const isHere = page === at;
    const parts = page.parts ?? [];
    return html`<li><a href="${address(at.path, page.path)}"${isHere && new Html(' aria-current="page"')}>${page.label ?? page.title}</a>${
      isHere &&
      parts.length > 0 &&
      html`<ul>${parts.map(({ id, label, method }) => html`<li><a href="#${id}">${label}${method && html` <span class="method ${method.toLowerCase()}">${method}</span>`}</a></li>`)}</ul>`
    }</li>`;
  };
  return html`<nav id="pages" popover aria-label="Pages"><ul class="sections">${SECTIONS.map(
    (section) =>
      html`<li><p class="section">${section}</p><ul>${pages.filter((page) => page.section === section).map(entry)}</ul></li>`,
  )}</ul></nav>`;
}

function versionSwitch(): Html {
  const options = [...API_VERSIONS]
    .reverse()
    .map(
      (version) =>
        html`<option value="${version}"${version === API_VERSION_DEFAULT && new Html(' selected')}>${version}</option>`,
    );
  return html`<label class="version" hidden>API version <select id="version">${options}</select></label>`;
}

function around(page: Page, pages: readonly Page[]): Html {
  const index = pages.indexOf(page);
  const link = (to: Page | undefined, rel: string, before: string) =>
    to &&
    html`<a class="${rel}" rel="${rel}" href="${address(page.path, to.path)}"><span>${before}</span>${to.label ?? to.title}</a>`;
  return html`<nav class="around" aria-label="Next and previous page">${link(pages[index - 1], 'prev', 'Previous')}${link(pages[index + 1], 'next', 'Next')}</nav>`;
}

/** The whole page as HTML. Everything it loads is beside it: no other host, nothing inline. */
export function document(page: Page, pages: readonly Page[]): string {
  const root = address(page.path, '');
  const asset = (name: string) => `${root === './' ? '' : root}${name}`;
  return `${html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${page.summary}">
<title>${page.path === '' ? 'hookrail reference' : `${page.title} · hookrail`}</title>
<link rel="icon" href="${asset('icon.svg')}" type="image/svg+xml">
<link rel="alternate" href="${page.path.split('/').at(-1) || 'index'}.md" type="text/markdown">
<link rel="stylesheet" href="${asset('reference.css')}">
<script type="module" src="${asset('reference.js')}"></script>
</head>
<body data-root="${root}">
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<button class="menu" type="button" popovertarget="pages">Menu</button>
<a class="brand" href="${root}"><img src="${asset('icon.svg')}" alt="" width="24" height="24">hookrail</a>
<search class="search" hidden><label class="unseen" for="search">Search the reference</label><input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list"><kbd aria-hidden="true">/</kbd><ul id="found" role="listbox" aria-label="Results" hidden></ul></search>
${page.hasVersions && versionSwitch()}
<a class="file" href="${root === './' ? '' : root}../openapi.yaml">openapi.yaml</a>
</header>
<div class="columns">
${navigation(pages, page)}
<main id="content" tabindex="-1"${page.isWide && new Html(' class="wide"')}>
<p class="eyebrow">${page.section}</p>
<h1>${page.title}</h1>
${PLACEHOLDERS.howToGetKeys}
${page.content}
${around(page, pages)}
</main>
</div>
</body>
</html>`}\n`;
}
