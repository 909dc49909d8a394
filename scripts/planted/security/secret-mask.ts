import type { PlantedBug } from '../planted-bug.ts';

const RESPONSE_LOG = 'services/sender/http/response-log.ts';
const SEARCH = 'services/sender/http/masking/secret-search.ts';
const MASK = 'services/sender/http/masking/secret-mask.ts';
const CHARSETS_TEST = 'test/sender/http/masking/charsets.test.ts';
const MASK_TEST = 'test/sender/http/masking/secret-mask.test.ts';
const SPELLINGS_TEST = 'test/sender/http/masking/spellings.test.ts';
const LINEAR_TEST = 'test/sender/http/masking/linear-time.test.ts';

/** A receiver's response that holds the secret, and the time that it takes to search it. */
export const SECRET_MASK_BUGS: readonly PlantedBug[] = [
  {
    id: 'secret-in-header-kept',
    bug: 'a secret that a receiver echoes in a header is stored',
    file: RESPONSE_LOG,
    text: 'return this.#mask?.inText(text, this.#allowance) ?? text;',
    replacement: 'return text;',
    test: MASK_TEST,
    title: 'in its status text and headers',
  },
  {
    id: 'secret-in-body-kept',
    bug: 'a secret that a receiver echoes in a body is stored',
    file: RESPONSE_LOG,
    text: 'return this.#mask?.inBody(body, this.#allowance) ?? body;',
    replacement: 'return body;',
    test: MASK_TEST,
    title: 'in its body, in several pieces',
  },
  {
    id: 'secret-across-cut-kept',
    bug: 'the first part of a secret is stored where the body is truncated',
    file: SEARCH,
    text: 'for (let size = Math.min(length, sizeMax); size >= BEGINNING_MIN; size -= 1) {',
    replacement: 'for (let size = Math.min(length, sizeMax); size > sizeMax; size -= 1) {',
    test: MASK_TEST,
    title: 'cut off anywhere',
  },
  {
    id: 'secret-in-base64-kept',
    bug: 'a secret inside a longer base64 text is stored',
    file: 'services/sender/http/masking/encoded-runs.ts',
    text: 'first < 4; first += 1',
    replacement: 'first < 1; first += 1',
    test: SPELLINGS_TEST,
    title: 'is found as',
  },
  {
    id: 'secret-in-escapes-kept',
    bug: 'escapes within escapes are undone only once',
    file: 'services/sender/http/masking/escapes.ts',
    text: 'if (next === plain) return plain;',
    replacement: 'return next;',
    test: SPELLINGS_TEST,
    title: 'is found as',
  },
  {
    id: 'charset-ignored',
    bug: 'a body in another charset than UTF-8 is kept as its bytes',
    file: 'services/sender/http/masking/charsets.ts',
    text: "if (decoder.encoding === 'utf-8') return bytes;",
    replacement: "if (decoder.encoding !== 'utf-16le') return bytes;",
    test: CHARSETS_TEST,
    title: 'is kept as text, without the secret',
  },
  {
    id: 'secret-hidden-by-charset',
    bug: 'a secret that a wrong charset turns into other letters is stored',
    file: MASK,
    text: 'if (before.length > ranges.length) return Buffer.from(HIDDEN);',
    replacement: '',
    test: CHARSETS_TEST,
    title: 'whose charset hides the secret',
  },
  {
    id: 'unknown-charset-kept',
    bug: 'a body in an unknown charset is stored as if it were UTF-8',
    file: RESPONSE_LOG,
    text: 'if (!text) return Buffer.from(NOT_DECODED);',
    replacement: 'if (!text) return body;',
    test: CHARSETS_TEST,
    title: 'a body is not kept',
  },
  {
    id: 'mask-by-expression',
    bug: 'the secret is searched for by a regular expression that is made of it',
    file: MASK,
    text: 'if (body.length < BEGINNING_MIN) return body;',
    replacement: "if (new RegExp('(?:\\\\\\\\*\\\\x5c|%5c)Z').test(body.toString('latin1'))) return body;",
    test: LINEAR_TEST,
    title: 'that repeats',
  },
  {
    id: 'searches-in-one-turn',
    bug: 'long responses that arrive together are all searched in one turn of the event loop',
    file: 'services/sender/http/masking/search-turns.ts',
    text: 'if (this.#waiting.length > 0 || this.#usedMs >= TURN_MS_MAX) this.#waiting.push(search);',
    replacement: 'if (this.#waiting.length > 0) this.#waiting.push(search);',
    test: 'test/sender/http/masking/search-turns.test.ts',
    title: 'long searches take some milliseconds of a turn',
  },
  {
    id: 'search-without-limit',
    bug: "one merchant's responses may take any time to search",
    file: 'services/sender/http/masking/search-budget.ts',
    text: 'return left >= 0 && merchant.take(bytes, this.#now()) && this.#total.take(bytes, this.#now());',
    replacement: 'return true;',
    test: LINEAR_TEST,
    title: 'the responses of one merchant',
  },
];
