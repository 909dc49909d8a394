import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { usage } from './exit.ts';

/**
 * Reads a text of the user: a file, or standard input (0). A byte order mark is left out. Throws a usage failure that names
 * the encoding and a command that converts it when it is not UTF-8.
 */
export function readText(path: string | 0): string {
  const bytes = readFileSync(path);
  const encoding = foreignEncoding(bytes);
  if (encoding === null) return bytes.toString().replace(/^\ufeff/, '');
  const name = path === 0 ? 'standard input' : path;
  throw usage(`${name} is ${encoding.says}, and is read as UTF-8`, ...converted(name, encoding));
}

export interface ForeignEncoding {
  /** Such as "in UTF-16LE". */
  readonly says: string;
  /** As iconv names it; its likely name where the bytes do not say it. */
  readonly name: string;
  /** Whether ASCII characters are single bytes in it, so that lines and names can be told. */
  readonly hasAscii: boolean;
}

/** Returns how to make a file UTF-8. */
export function converted(name: string, encoding: ForeignEncoding): string[] {
  return [
    `iconv -f ${encoding.name} -t UTF-8 ${name} > ${name}.utf8`,
    `PowerShell: (Get-Content ${name}) | Set-Content -Encoding utf8 ${name}`,
  ];
}

/** Returns the encoding of bytes that are not UTF-8, or null. */
export function foreignEncoding(bytes: Buffer): ForeignEncoding | null {
  const wide = wideEncoding(bytes);
  if (wide !== null) return { says: `in ${wide}`, name: wide, hasAscii: false };
  if (isUtf8(bytes)) return null;
  const { byte, line } = firstForeign(bytes);
  const says = `not in UTF-8 (byte 0x${byte.toString(16)} in line ${line}; perhaps in ISO-8859-1 or Windows-1252)`;
  return { says, name: 'WINDOWS-1252', hasAscii: true };
}

/** Returns the name of an encoding whose characters have two or four bytes, by its mark or by the first characters. */
function wideEncoding(bytes: Buffer): string | null {
  const begins = bytes.toString('hex', 0, 4);
  if (begins === 'fffe0000') return 'UTF-32LE';
  if (begins === '0000feff') return 'UTF-32BE';
  if (begins.startsWith('fffe')) return 'UTF-16LE';
  if (begins.startsWith('feff')) return 'UTF-16BE';
  // No text file has zero bytes in UTF-8.
  const zero = bytes.indexOf(0);
  if (zero < 0) return null;
  if (begins.startsWith('000000')) return 'UTF-32BE';
  if (begins.endsWith('000000')) return 'UTF-32LE';
  return zero % 2 === 0 ? 'UTF-16BE' : 'UTF-16LE';
}

/** Finds the first byte that is no part of UTF-8. */
function firstForeign(bytes: Buffer): { readonly byte: number; readonly line: number } {
  let from = 0;
  let line = 1;
  for (
    let end = bytes.indexOf(0x0a);
    end >= 0 && isUtf8(bytes.subarray(from, end));
    end = bytes.indexOf(0x0a, from)
  ) {
    from = end + 1;
    line += 1;
  }
  const byte =
    bytes.subarray(from).find((each, i) => each > 0x7f && !isUtf8(bytes.subarray(from, from + i + 1))) ?? 0;
  return { byte, line };
}
