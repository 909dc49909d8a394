import type { PlantedBug } from '../planted-bug.ts';

const WELL_KNOWN = 'test/api/well-known/well-known.test.ts';
const SOURCES = 'test/config/well-known/source-addresses.test.ts';
const PAGES = 'test/docs/markdown-pages.test.ts';

/** Bugs in what the service tells everybody. */
export const PUBLIC_DOCUMENT_BUGS: readonly PlantedBug[] = [
  {
    id: 'addresses-that-ended',
    bug: 'firewalls go on letting in an address that was given up',
    file: 'services/api/well-known/webhook-sources.ts',
    text: 'validUntil === null || validUntil > now',
    replacement: 'validUntil === null || validUntil > 0',
    test: WELL_KNOWN,
    title: 'no longer have what has ended',
  },
  {
    id: 'no-address-for-a-while',
    bug: 'firewalls shut everything out between two addresses',
    file: 'services/config/well-known/source-addresses.ts',
    text: '  refuseGaps(sources);\n',
    replacement: '',
    test: SOURCES,
    title: 'is refused',
  },
  {
    id: 'expired-security-txt',
    bug: 'a security.txt that has expired is served',
    file: 'services/api/well-known/security-txt.ts',
    text: 'contents.expires <= systemNow(clock)',
    replacement: 'contents.expires <= 0',
    test: WELL_KNOWN,
    title: 'is not served after its end',
  },
  {
    id: 'tabs-lost-in-markdown',
    bug: 'the Markdown of a page has only the first of the samples that its tabs have',
    file: 'scripts/reference/markdown-pages/block-markdown.ts',
    text: "return elementsOf(children, 'pre').flatMap(",
    replacement: "return elementsOf(children, 'pre').slice(0, 1).flatMap(",
    test: PAGES,
    title: 'has every tab',
  },
];
