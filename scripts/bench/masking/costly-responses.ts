/** The responses that are the most costly to search for a secret, and the secrets that make them so. */
import { newSecret } from '../../../services/domain/secret.ts';
import { RESPONSE_BYTES_MAX } from '../../../services/sender/http/masking/search-budget.ts';
import type { SearchAllowance } from '../../../services/sender/http/masking/secret-search.ts';

/** More than the part of a response that is kept. */
export const BODY_BYTES = 17_408;

const VISIBLE = Array.from({ length: 94 }, (_, i) => String.fromCharCode(0x21 + i));
const escapesOf = (character: string) => {
  const code = character.charCodeAt(0);
  const hex = code.toString(16).padStart(2, '0');
  return [
    ...[
      `\\${character}`,
      `\\u00${hex}`,
      `\\x${hex}`,
      `\\u{${hex}}`,
      `\\${code.toString(8).padStart(3, '0')}`,
    ],
    ...[`%${hex}`, `%25${hex}`, `&#${code};`, `&#${code}`, `&#0${code}`, `&#x${hex};`, `&amp;#${code};`],
    ...[`=${hex.toUpperCase()}`, `0x${hex},`, `${code},`, `${hex} `, `${character}\0`],
  ];
};
/** Each is repeated to fill a costly body. */
export const UNITS = [
  ...VISIBLE,
  ...['\\', '%', '&', '=', 'V', 'a', '3'].flatMap(escapesOf),
  ...[
    '\0',
    ' ',
    '\n',
    '\r\n',
    '=\n',
    '\\\n',
    '&amp;',
    '%25',
    '\\\\',
    'VVUU',
    'H4sI',
    'eJw',
    '\xff',
    '\\u{',
    '&#',
    '0x',
  ],
];
/** Generated secrets whose bytes are all the same. */
export const KEYS = [0, 0x5c, 0x55, 0xff].map((byte) => newSecret(new Uint8Array(24).fill(byte)));

/** Secrets that a merchant chose to make a body that repeats `unit` costly. */
export function secretsLike(unit: string): readonly string[] {
  const own = [unit, `${unit}Z`, unit[0] as string].map((text) => text.repeat(128).slice(0, 128));
  return [...own, `${unit.repeat(16).slice(0, 15)}Z`];
}

/** Allows all that one response may take. */
export function ofOneResponse(): SearchAllowance {
  let left = RESPONSE_BYTES_MAX;
  return {
    take: (bytes) => {
      left -= bytes;
      return left >= 0;
    },
  };
}

/** Returns a body of BODY_BYTES that repeats `unit`. */
export function filledWith(unit: string): Buffer {
  return Buffer.from(unit.repeat(BODY_BYTES).slice(0, BODY_BYTES), 'latin1');
}
