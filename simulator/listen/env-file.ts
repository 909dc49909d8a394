import { readFileSync } from 'node:fs';
import { CommandFailure, usage } from '../exit.ts';
import { isRegularFile, writeNamedFile } from '../named-file.ts';
import { converted, foreignEncoding } from '../text-file.ts';

const NAME = 'WEBHOOK_SECRET';
/** The beginning of a line that sets a variable: what stands before the name, the name, and up to the value. */
const HEAD = /^((?:\xef\xbb\xbf)?[ \t]*(?:export[ \t]+)?)([\w.-]+)[ \t]*(?:=|:[ \t])[ \t]*/;
const QUOTES = '"\'`';

/**
 * Sets WEBHOOK_SECRET in an .env file, in every line that has it; every other byte stays, whatever the encoding. The file is
 * replaced as a whole, and one that is new may be read by its owner only; a pipe gets the one line. Returns whether it was
 * changed. Throws a usage failure when it cannot be written, or is in UTF-16, whose lines programs do not read.
 */
export function writeEnvFile(path: string, secret: string): boolean {
  try {
    const bytes = isRegularFile(path) ? readFileSync(path) : Buffer.alloc(0);
    const encoding = foreignEncoding(bytes);
    if (encoding && !encoding.hasAscii) {
      throw usage(
        `--write-env ${path} is ${encoding.says}, which programs do not read as an .env file: it was not changed`,
        ...converted(path, encoding),
      );
    }
    const before = bytes.toString('latin1');
    const after = withSecret(before, secret);
    if (after === before) return false;
    writeNamedFile(path, Buffer.from(after, 'latin1'), (mode = 0o600) => mode);
    return true;
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw usage(`--write-env ${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? error})`);
  }
}

/** `text`: a character for each byte. */
function withSecret(text: string, secret: string): string {
  const line = `${NAME}=${secret}`;
  let changed = '';
  let isThere = false;
  for (let at = 0; at < text.length; ) {
    const [head = '', before = '', name] = HEAD.exec(text.slice(at, endOfLine(text, at))) ?? [];
    const end = name === undefined ? endOfLine(text, at) : endOfValue(text, at + head.length);
    isThere ||= name === NAME;
    const next = text.indexOf('\n', end) + 1 || text.length;
    changed += (name === NAME ? `${before}${line}` : text.slice(at, end)) + text.slice(end, next);
    at = next;
  }
  if (isThere) return changed;
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = text === '' || text.endsWith('\n') ? '' : end;
  return `${text}${gap}${line}${end}`;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  if (end < 0) return text.length;
  return text[end - 1] === '\r' ? Math.max(at, end - 1) : end;
}

/** Returns the end of the line in which a value ends: within quotes it may have several lines, as dotenv reads them. */
function endOfValue(text: string, at: number): number {
  const quote = text[at];
  if (quote === undefined || !QUOTES.includes(quote)) return endOfLine(text, at);
  let close = text.indexOf(quote, at + 1);
  while (close > 0 && text[close - 1] === '\\') close = text.indexOf(quote, close + 1);
  return endOfLine(text, close > 0 ? close : at);
}
