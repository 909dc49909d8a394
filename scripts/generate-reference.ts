/**
 * Renders schemas/reference, the pages that the service serves at /docs, each as HTML and as Markdown, and
 * schemas/llms.txt, the list of them, from the API description, the catalog, the state machines and the pages under
 * docs/. `--check` writes nothing and exits 1 when one of them is out of date.
 *
 * The pages are committed like the other generated files: a checkout serves them without a build, production installs
 * no renderer, and a change of the description shows what its readers will see.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepGenerated } from './keep-generated.ts';
import { eventPages } from './reference/event-pages.ts';
import { guidePages } from './reference/guide-pages.ts';
import { document, type Page } from './reference/layout.ts';
import { llmsText, markdownFile, markdownPage } from './reference/markdown-pages/markdown-pages.ts';
import { operationPages } from './reference/operation-pages.ts';
import { producerPages } from './reference/producer-pages.ts';
import { searchIndex } from './reference/search-index.ts';

const TARGET = 'schemas/reference';
const LIST = 'schemas/llms.txt';
const ASSETS = ['reference.css', 'reference.js', 'search.js', 'icon.svg'];
const SOURCE = 'the description, the catalog, docs/ or scripts/reference';

/** Every file of the reference by its path below /docs/. */
function referenceFiles(pages: readonly Page[]): ReadonlyMap<string, string> {
  const asset = (name: string) => readFileSync(new URL(`reference/assets/${name}`, import.meta.url), 'utf8');
  return new Map([
    ...pages.map((page) => [`${page.path || 'index'}.html`, document(page, pages)] as const),
    ...pages.map((page) => [markdownFile(page), markdownPage(page, pages)] as const),
    ...ASSETS.map((name) => [name, asset(name)] as const),
    ['search.json', `${JSON.stringify(searchIndex(pages))}\n`],
  ]);
}

/** Removes the pages of what is no longer described. */
function removeOthers(kept: ReadonlySet<string>): void {
  const folder = fileURLToPath(new URL(`../${TARGET}`, import.meta.url));
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory() || kept.has(path.slice(folder.length + 1))) continue;
    if (!process.argv.includes('--check')) rmSync(path);
    else {
      console.error(`${TARGET}/${entry.name} is of nothing that is described: run npm run generate`);
      process.exitCode = 1;
    }
  }
}

const pages = [...guidePages(), ...operationPages(), ...eventPages(), ...producerPages()];
const files = referenceFiles(pages);
for (const [path, text] of files) keepGenerated(`${TARGET}/${path}`, text, SOURCE);
keepGenerated(LIST, llmsText(pages), SOURCE);
removeOthers(new Set(files.keys()));
