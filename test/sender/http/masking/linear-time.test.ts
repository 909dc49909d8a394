/**
 * Guarantee: no response takes long to search for a secret, whatever the merchant and the receiver write: the time is linear
 * in the length, one response has a limit, and so have the responses of one merchant.
 */
import { describe, expect, test } from 'vitest';
import { newSecret } from '../../../../services/domain/secret.ts';
import { RESPONSE_BYTES_MAX, SearchBudget } from '../../../../services/sender/http/masking/search-budget.ts';
import { NOT_KEPT, SecretMask } from '../../../../services/sender/http/masking/secret-mask.ts';
import type { SearchAllowance } from '../../../../services/sender/http/masking/secret-search.ts';

const BODY_BYTES = 17_408;
/** The processor time of one search, microseconds. */
const CPU_US_MAX = 20_000;

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
const UNITS = [
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
const KEYS = [0, 0x5c, 0x55, 0xff].map((byte) => newSecret(new Uint8Array(24).fill(byte)));

/** Allows all that one response may take. */
function ofOneResponse(): SearchAllowance {
  let left = RESPONSE_BYTES_MAX;
  return {
    take: (bytes) => {
      left -= bytes;
      return left >= 0;
    },
  };
}

const filledWith = (unit: string) => Buffer.from(unit.repeat(BODY_BYTES).slice(0, BODY_BYTES), 'latin1');

/** The best of a few, because other processes take the processor's caches. Retries only what was slow. */
function cpuUs(secret: string, body: Buffer): number {
  const mask = new SecretMask(secret);
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5 && best > CPU_US_MAX / 2; tries += 1) {
    const before = process.cpuUsage();
    mask.inBody(body, ofOneResponse());
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, user + system);
  }
  return best;
}

function slowOnes(secrets: readonly string[], bodies: readonly string[]): string[] {
  const slow: string[] = [];
  for (const unit of bodies) {
    const body = filledWith(unit);
    for (const secret of secrets) {
      if (cpuUs(secret, body) > CPU_US_MAX) slow.push(`${JSON.stringify(secret)} in ${JSON.stringify(unit)}`);
    }
  }
  return slow;
}

describe('a body of 17 KB is searched within 20 ms', () => {
  test.each(UNITS)('that repeats %j', (unit) => {
    const own = [unit, `${unit}Z`, unit[0] as string].map((text) => text.repeat(128).slice(0, 128));
    const almost = `${unit.repeat(16).slice(0, 15)}Z`;
    expect(slowOnes([...own, almost, ...KEYS], [unit, `${unit}Z`])).toEqual([]);
  });

  test('that repeats two of them', () => {
    const some = UNITS.filter((unit, i) => '\\%&=V3+'.includes(unit) || (unit.length > 1 && i % 4 === 0));
    const pairs = some.flatMap((one) => some.map((other) => one + other));
    expect(slowOnes([KEYS[1] as string, `${'\\+'.repeat(8)}Z`], pairs)).toEqual([]);
  }, 240_000);

  test('that has many beginnings of escapes without an end, and long runs of them', () => {
    const bodies = ['&', '\\', '%', '=', '0x', '\\u{', '&#', '&#x', '%u', '\\U0000'].flatMap((opening) => [
      opening,
      `${opening}${'0'.repeat(999)}`,
      `${opening}${' '.repeat(999)}`,
      `${opening.repeat(5000)}u00`,
      `${'%25'.repeat(99)}${opening}`,
      `${'&amp;'.repeat(99)}${opening}`,
    ]);
    expect(slowOnes([`${'\\'.repeat(15)}Z`, `${'\\+'.repeat(8)}Z`, ...KEYS], bodies)).toEqual([]);
  });
});

describe('the responses of one merchant', () => {
  test('are searched until its share is used up, and then not kept', () => {
    let now = 0;
    const budget = new SearchBudget(() => now);
    const mask = new SecretMask(KEYS[0] as string);
    const costly = filledWith('V');
    const isKept = (merchantId: string) =>
      mask.inBody(costly, budget.allowanceOf(merchantId)).toString() !== NOT_KEPT;
    let kept = 0;
    while (kept < 1000 && isKept('m1')) kept += 1;
    expect(kept).toBeGreaterThan(20);
    expect(kept).toBeLessThan(100);
    expect(isKept('m2')).toBe(true);
    now += 1000;
    expect(isKept('m1')).toBe(true);
  });

  test('are all kept at the highest rate when they are short', () => {
    const budget = new SearchBudget(() => 0);
    const mask = new SecretMask(KEYS[0] as string);
    const body = Buffer.from('{"received":true,"id":"3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11"}');
    for (let i = 0; i < 10_000; i += 1) expect(mask.inBody(body, budget.allowanceOf('m1'))).toBe(body);
  });

  test('leave a share to others when very many merchants use up theirs', () => {
    let now = 0;
    const budget = new SearchBudget(() => now);
    const merchants = Array.from({ length: 10_000 }, (_, i) => `m${i}`);
    const taken = () => merchants.filter((id) => budget.allowanceOf(id).take(RESPONSE_BYTES_MAX)).length;
    const first = taken();
    now += 1000;
    expect(taken()).toBeLessThan(first);
    expect(first).toBeLessThan(200);
  });
});
