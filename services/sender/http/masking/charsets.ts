import { MIMEType, TextDecoder } from 'node:util';

/** A page declares its charset within this many bytes (HTML, "prescan a byte stream"). */
const DECLARED_WITHIN_BYTES = 1024;
/** The longest label of the Encoding Standard has 19 characters. */
const LABEL_MAX = 40;

/**
 * Returns a body as UTF-8, decoded by the charset that its byte order mark, its Content-Type or the page itself names
 * (labels of the WHATWG Encoding Standard). Returns `bytes` itself where they are UTF-8, or nothing says what they are, and
 * null where the charset is unknown. The body may be cut off: half a character at its end is left out.
 */
export function asUtf8(bytes: Buffer, contentType: string): Buffer | null {
  const mark = markOf(bytes);
  const { type, label } = declared(contentType);
  if (mark === 'utf-8' || (mark === null && label === null && isUtf8(bytes))) return bytes;
  const decoder = decoderOf(mark ?? label ?? presumed(bytes, type) ?? 'utf-8');
  if (!decoder) return null;
  if (decoder.encoding === 'utf-8') return bytes;
  return Buffer.from(decoder.decode(bytes, { stream: true }));
}

/** Returns the encoding that a byte order mark names. */
function markOf(bytes: Buffer): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return null;
}

interface Declared {
  readonly type: string;
  readonly label: string | null;
}

const NOTHING: Declared = { type: '', label: null };
/** Most receivers declare the same with every response: what was parsed is kept. */
const DECLARED_KEPT_MAX = 100;
const declarations = new Map<string, Declared>();

function declared(contentType: string): Declared {
  if (contentType === '') return NOTHING;
  const known = declarations.get(contentType);
  if (known) return known;
  if (declarations.size >= DECLARED_KEPT_MAX) declarations.clear();
  const found = parsed(contentType);
  declarations.set(contentType, found);
  return found;
}

function parsed(contentType: string): Declared {
  try {
    const { type, essence, params } = new MIMEType(contentType);
    const label = params.get('charset')?.replaceAll("'", '').trim() || null;
    return { type: /[/+](?:xml|html)/.test(essence) ? 'text' : type, label };
  } catch {
    return NOTHING;
  }
}

/** Returns the charset of a body that is not UTF-8 and whose Content-Type names none. */
function presumed(bytes: Buffer, type: string): string | null {
  // The first two characters of JSON and pages are ASCII (RFC 4627, section 3).
  if (isAscii(bytes[0]) && bytes[1] === 0 && isAscii(bytes[2]) && bytes[3] === 0) return 'utf-16le';
  if (bytes[0] === 0 && isAscii(bytes[1]) && bytes[2] === 0 && isAscii(bytes[3])) return 'utf-16be';
  if (type !== 'text') return null;
  const label = declaredIn(bytes.toString('latin1', 0, DECLARED_WITHIN_BYTES).toLowerCase());
  // A page that can be read as ASCII is not in UTF-16, whatever it says.
  return label === null || label.startsWith('utf-16') ? 'windows-1252' : label;
}

/** Returns the charset that a page in lower case names: `<?xml encoding="…"`, `<meta charset=…` or `content="…; charset=…"`. */
function declaredIn(page: string): string | null {
  const isXml = page.startsWith('<?xml');
  const from = isXml ? 0 : page.indexOf('<meta');
  const name = isXml ? 'encoding' : 'charset';
  const at = from < 0 ? -1 : page.indexOf(name, from);
  if (at < 0) return null;
  const [, label = null] = /^ ?= ?["']?([-a-z0-9_.:]+)/.exec(page.slice(at + name.length)) ?? [];
  return label;
}

function isAscii(byte: number | undefined): boolean {
  return byte !== undefined && byte > 0 && byte < 0x80;
}

function isUtf8(bytes: Buffer): boolean {
  // UTF-16 without a mark passes for UTF-8 with zero bytes.
  if (bytes[0] === 0 || bytes[1] === 0) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function decoderOf(label: string): TextDecoder | null {
  if (label.length > LABEL_MAX) return null;
  try {
    return new TextDecoder(label);
  } catch {
    // A RangeError: the Encoding Standard has no such label, or refuses to decode it.
    return null;
  }
}
