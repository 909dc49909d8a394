import type { PlantedBug } from '../planted-bug.ts';

const SIGNS = 'test/domain/failure-signs.test.ts';
const VERDICT = 'test/sender/http/verdict.test.ts';
const FAILING = 'test/sender/http/egress-proxy-failing.test.ts';

/** What is told of a failure on the way to a receiver: in the delivery log, and in readiness. */
export const TOLD_BUGS: readonly PlantedBug[] = [
  {
    id: 'parser-reason-untold',
    bug: 'a reason of the HTTP parser is told in its own words only',
    file: 'services/domain/failures/http-signs.ts',
    text: "'Missing expected CR after chunk size',",
    replacement: '',
    test: SIGNS,
    title: 'of the HTTP parser: ',
  },
  {
    id: 'response-in-library-words',
    bug: 'the parser’s reason is looked up with the words around it',
    file: 'services/domain/failures/failure-signs.ts',
    text: "return reason === '' ? shortened(message)",
    replacement: "return reason !== '' ? shortened(message)",
    test: VERDICT,
    title: 'is told in words that help',
  },
  {
    id: 'redirect-tells-the-query',
    bug: 'the detail of a redirect keeps the query of its Location',
    file: 'services/sender/http/failure-names.ts',
    text: "location.replace(/[?#].*$/s, '')",
    replacement: "location.replace(/#.*$/s, '')",
    test: VERDICT,
    title: 'is told in words that help',
  },
  {
    id: 'leaf-issuer-named',
    bug: 'of a chain that ends early the issuer of the first certificate is named, which was sent',
    file: 'services/sender/http/tls/missing-issuer.ts',
    text: 'last = last.issuerCertificate;',
    replacement: '',
    test: 'test/sender/http/tls.test.ts',
    title: 'one of two intermediate certificates is not sent',
  },
  {
    id: 'proxy-fails-for-ever',
    bug: 'readiness believes the refusal of an egress proxy until a CONNECT succeeds, however long ago it was',
    file: 'services/sender/http/egress-proxy.ts',
    text: 'if (ageMs > BELIEVED_MS) this.#failing = null;\n    else if',
    replacement: 'if',
    test: FAILING,
    title: 'fails until one succeeds, and is believed for a minute',
  },
  {
    id: 'silent-proxy-not-asked',
    bug: 'an egress proxy that was not reached is not asked again without a CONNECT',
    file: 'services/sender/http/egress-proxy.ts',
    text: 'else if (ageMs > ASKED_EVERY_MS) this.#ask();',
    replacement: '',
    test: FAILING,
    title: 'is asked again without a CONNECT, and works as soon as it answers',
  },
  {
    id: 'plus-is-no-space',
    bug: 'a + in a query is no space, as forms and URLSearchParams write it',
    file: 'services/api/validation.ts',
    text: ".replaceAll('+', '%20')",
    replacement: '',
    test: 'test/api/requests/harmless.test.ts',
    title: 'is taken: + is a space in form encoding',
  },
];
