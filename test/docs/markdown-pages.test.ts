/**
 * The reference as Markdown: every page of /docs is there and in /llms.txt, each link leads to a page that has what it
 * names, and nothing that the HTML says is left out.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { markdownOf } from '../../scripts/reference/markdown-pages/block-markdown.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
const texts = new Map<string, string>();
beforeAll(async () => {
  api = await startTestApi();
  const pages = await pagesOfNavigation();
  for (const page of [`${api.api.url}/llms.txt`, ...pages.map(markdownAt)])
    texts.set(page, await (await got(page)).text());
});
afterAll(() => api.close());

async function got(url: string): Promise<Response> {
  const response = await fetch(url);
  expect([url, response.status]).toEqual([url, 200]);
  return response;
}

/** The addresses of the HTML pages, as the list beside each of them has them. */
async function pagesOfNavigation(): Promise<string[]> {
  const html = await (await got(`${api.api.url}/docs/`)).text();
  const [navigation = ''] = /<nav id="pages"[\s\S]*?<\/nav>/.exec(html) ?? [];
  const links = [...navigation.matchAll(/href="([^"#]+)"/g)].map(([, href = '']) => href);
  return [...new Set(links.map((href) => new URL(href, `${api.api.url}/docs/`).href))];
}

const ENDING = '.md';
/** The Markdown of a page is at its address with this ending. */
const markdownAt = (page: string) => (page.endsWith('/') ? `${page}index${ENDING}` : `${page}${ENDING}`);

const withoutCode = (text: string) =>
  text.replaceAll(/^( *)(`{3,})[\s\S]*?^\1\2$/gm, '').replaceAll(/`+[^`\n]*`+/g, '`');
const linksOf = (text: string) =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = '']) => href);

/** The anchors of a page: those that a reader of Markdown makes of headings, and those that are written. */
function anchorsOf(text: string): Set<string> {
  const plain = text.replaceAll(/^( *)(`{3,})[\s\S]*?^\1\2$/gm, '');
  const written = [...plain.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id = '']) => id);
  const headings = [...plain.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .replaceAll(/ ?<a id.*/g, '')
      .toLowerCase()
      .replaceAll(/\\/g, '')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
  return new Set([...written, ...headings]);
}

describe('the Markdown of the reference', () => {
  test('is in /llms.txt, which leaves no page out and names no other', () => {
    const list = texts.get(`${api.api.url}/llms.txt`) ?? '';
    const listed = linksOf(list).map((href) => new URL(href, `${api.api.url}/llms.txt`).href);
    const pages = [...texts.keys()].filter((url) => url.endsWith('.md'));
    expect(pages.length).toBeGreaterThan(50);
    expect(listed.filter((url) => url.includes('/docs/')).sort()).toEqual([...pages].sort());
    expect(new Set(listed).size).toBe(listed.length);
  });

  test('is listed in the form of llmstxt.org: a title, a summary, lists below headings', async () => {
    const response = await got(`${api.api.url}/llms.txt`);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const [title, summary, about, ...sections] = (await response.text()).trimEnd().split('\n\n');
    expect([title, summary?.startsWith('> '), about?.startsWith('#')]).toEqual(['# hookrail', true, false]);
    expect(sections.length % 2).toBe(0);
    for (let at = 0; at < sections.length; at += 2) {
      expect(sections[at]).toMatch(/^## \S/);
      for (const line of sections[at + 1]?.split('\n') ?? [])
        expect(line).toMatch(/^- \[[^\]]+\]\([^)]+\): \S/);
    }
  });

  test('is served as Markdown, which a cache may keep', async () => {
    for (const url of texts.keys()) {
      if (!url.endsWith('.md')) continue;
      const response = await got(url);
      expect([url, response.headers.get('content-type')]).toEqual([url, 'text/markdown; charset=utf-8']);
      const etag = response.headers.get('etag') ?? '';
      const again = await fetch(url, { headers: { 'if-none-match': etag } });
      expect([url, again.status]).toEqual([url, 304]);
    }
  });

  test('has links that resolve, each to a part that is there', async () => {
    let links = 0;
    const others = new Set<string>();
    for (const [url, text] of texts) {
      for (const href of linksOf(text)) {
        const target = new URL(href, url);
        if (target.origin !== api.api.url) continue;
        links += 1;
        const page = target.href.replace(/#.*/, '');
        const there = texts.get(page);
        if (there === undefined) others.add(page);
        else if (target.hash !== '')
          expect([url, href, anchorsOf(there).has(target.hash.slice(1))]).toEqual([url, href, true]);
      }
    }
    expect(links).toBeGreaterThan(200);
    for (const page of others) await got(page);
    expect([...others].every((page) => !page.includes('/docs/'))).toBe(true);
  });

  test('has every word of the HTML pages, and no mark of HTML', async () => {
    for (const page of await pagesOfNavigation()) {
      const html = await (await got(page)).text();
      const text = texts.get(markdownAt(page)) ?? '';
      const missing = wordsOf(html).filter((word) => !bare(text).includes(word));
      expect([page, missing]).toEqual([page, []]);
      const marks = withoutCode(text)
        .replaceAll(/<a id="[^"]+"><\/a>/g, '')
        .match(/(?<!\\)<\/?[a-z][^>]*>/g);
      expect([page, marks]).toEqual([page, null]);
    }
  });

  test('has no key of the sandbox, and the address at which it was asked for', async () => {
    api.api.docs.fillIn({ merchantKey: api.keys.own, producerKey: api.keys.producer, merchantId: 'mine' });
    const text = await (await got(`${api.api.url}/docs/operations/producers.md`)).text();
    expect(text).toContain(`${api.api.url}/producer/events`);
    expect(text).toContain('API-Key pk_sandbox_…');
    expect(text).not.toMatch(/\{\{[a-z-]+\}\}/);
    expect(text).not.toContain(api.keys.producer);
  });
});

/** Text of a page as a reader sees it, without drawings and what is around the content. */
function wordsOf(html: string): readonly string[] {
  const [, content = ''] = /<\/h1>([\s\S]*?)<nav class="around"/.exec(html) ?? [];
  const plain = content
    .replaceAll(/<svg[\s\S]*?<\/svg>/g, ' ')
    .replaceAll(/<p class="keys">[\s\S]*?<\/p>/g, ' ')
    .replaceAll('<wbr>', '')
    .replaceAll(/<pre[\s\S]*?<\/pre>/g, (code) => ` ${code.replaceAll(/<[^>]+>/g, '')} `)
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
  return [...new Set(plain.match(/[\p{L}\p{N}_]{3,}/gu) ?? [])];
}

/** A text without the marks that Markdown adds to words. */
const bare = (text: string) => text.replaceAll('\\', '');

describe('a page of HTML becomes Markdown', () => {
  const linkTo = (href: string) => `to-${href}`;
  test.each([
    ['<p>A <strong>b</strong> <code>c_d</code> &lt;e&gt; *f*</p>', 'A **b** `c_d` \\<e\\> \\*f\\*'],
    ['<h2 id="a-b"><a href="#a-b">A b</a></h2>', '## A b'],
    ['<h2 id="createIt"><a href="#createIt">Create it</a></h2>', '## Create it <a id="createIt"></a>'],
    ['<p>See <a href="x">the page</a>.</p>', 'See [the page](to-x).'],
    ['<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>', '- a\n\n  - b\n- c'],
    ['<pre data-language="sh"><code>a <span class="c"># ```</span>\n</code></pre>', '````sh\na # ```\n````'],
    ['<table><tr><th>A</th></tr><tr><td>x|y<br>z</td></tr></table>', '| A |\n| --- |\n| x\\|y z |'],
    [
      '<div class="field"><code>id</code> <span class="type">UUID</span> <span class="note">required</span></div>',
      '`id` (UUID; required)',
    ],
    ['<figure><svg><path d="M0"/></svg><p>moves</p></figure>', 'moves'],
  ])('%s', (html, markdown) => {
    expect(markdownOf(html, linkTo)).toBe(markdown);
  });

  test('that has every tab, each below its name', () => {
    const names =
      '<input type="radio"><label for="a">curl</label><input type="radio"><label for="b">Go</label>';
    const code = '<pre data-language="sh"><code>a</code></pre><pre data-language="go"><code>b</code></pre>';
    expect(markdownOf(`<div class="tabs">${names}${code}</div>`, linkTo)).toBe(
      'curl:\n\n```sh\na\n```\n\nGo:\n\n```go\nb\n```',
    );
  });

  test.each(['<p>a', '<p>a</div>', 'a < b', '<p class=x>a</p>'])(
    'only if it is whole: %s is refused',
    (html) => {
      expect(() => markdownOf(html, linkTo)).toThrow();
    },
  );
});
