import { withoutTrailing } from '../../../domain/text/trimmed.ts';
import { unescaped } from './escapes.ts';
import { wholeView } from './view.ts';

const PREFIX = 'whsec_';
/** Shorter forms are not searched for: they occur in ordinary text. */
export const FORM_MIN = 12;
/**
 * Characters before and after a text may be read as one escape with its first and last ones: `key=4f…`. So these
 * may be missing.
 */
export const EDGE = 2;

/** The letters and digits, in lower case; 0 for other bytes, which a copy may have lost, changed or been given. */
const LETTERS = new Uint8Array(256);
/** The visible characters, in lower case. */
export const VISIBLE = new Uint8Array(256);
for (let byte = 0x21; byte < 0x7f; byte += 1) {
  const lower = String.fromCharCode(byte).toLowerCase().charCodeAt(0);
  if (lower !== 0x5c) VISIBLE[byte] = lower;
  if (/[a-z0-9]/.test(String.fromCharCode(lower))) LETTERS[byte] = lower;
}

/** The texts and bytes by which a secret is recognised. */
export interface SecretForms {
  /** The secret as it is, and the key that it encodes: searched for in a response byte by byte. */
  readonly exact: readonly Buffer[];
  /** The same as they are after escapes were undone. */
  readonly unescaped: readonly Buffer[];
  /** The characters of the secret that every copy keeps. */
  readonly kept: Buffer;
  /** Maps a byte to what is kept of it: LETTERS or, for a secret that has few of them, VISIBLE. */
  readonly keeps: Uint8Array;
  /** Its visible characters. */
  readonly visible: Buffer;
}

/** `secret`: in plain text. Its prefix is public, and its padding the same in all. */
export function secretForms(secret: string): SecretForms {
  const isKey = secret.startsWith(PREFIX);
  const text = Buffer.from(withoutTrailing(isKey ? secret.slice(PREFIX.length) : secret, '='));
  const exact = [text];
  if (isKey) {
    const key = Buffer.from(text.toString(), 'base64');
    // As it is, and as a text whose characters are the bytes.
    exact.push(key, Buffer.from(key.toString('latin1')));
  }
  const plain = exact.map((form) => unescaped(wholeView(form, false))?.bytes ?? form);
  const keeps = keptOf(plain[0] as Buffer, LETTERS).length >= FORM_MIN ? LETTERS : VISIBLE;
  return {
    exact: [...exact, ...otherwise(text)].filter(({ length }) => length >= FORM_MIN),
    unescaped: plain.filter(({ length }) => length >= FORM_MIN),
    kept: keptOf(plain[0] as Buffer, keeps),
    keeps,
    visible: keptOf(plain[0] as Buffer, VISIBLE),
  };
}

/** Returns the spellings of a secret that is lost when escapes are undone, such as one of backslashes. */
function otherwise(text: Buffer): Buffer[] {
  if (keptOf(text, VISIBLE).length >= FORM_MIN && !/[%&\\=]/.test(text.toString())) return [];
  const inJson = JSON.stringify(text.toString()).slice(1, -1);
  const inUrl = encodeURIComponent(text.toString());
  return [inJson, JSON.stringify(inJson).slice(1, -1), inUrl, inUrl.toLowerCase()].map((form) =>
    Buffer.from(form),
  );
}

/** Returns what is kept of some bytes. */
export function keptOf(bytes: Buffer, keeps: Uint8Array): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = keeps[bytes[i] as number] as number;
    if (byte !== 0) {
      kept[length] = byte;
      length += 1;
    }
  }
  return kept.subarray(0, length);
}
