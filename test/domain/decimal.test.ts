/** A decimal's text becomes the JSON number's digits: the same value, one form, never an exponent. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalDecimal } from '../../services/domain/text/decimal.ts';

const digits = (min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: max });

const decimals = fc
  .record({ minus: fc.boolean(), whole: digits(1, 25), fraction: digits(0, 20) })
  .map(({ minus, whole, fraction }) => `${minus ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`);

/** The value as a fraction over 10^20: what a decimal means, without looking at how it is written. */
function worthOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const magnitude = BigInt(whole + fraction.padEnd(20, '0'));
  return text.startsWith('-') ? -magnitude : magnitude;
}

describe('canonicalDecimal', () => {
  it.each([
    ['0.30', '0.3'],
    ['1.234567890123456789', '1.234567890123456789'],
    ['0.0000001', '0.0000001'],
    ['-0', '0'],
    ['-0.00', '0'],
    ['007', '7'],
    ['000', '0'],
    ['100', '100'],
    ['-010.50', '-10.5'],
    ['5.000', '5'],
  ])('writes %s as %s', (text, written) => {
    expect(canonicalDecimal(text)).toBe(written);
  });

  it.each([
    '',
    '-',
    '.5',
    '5.',
    '+1',
    '1e5',
    '1E-7',
    '0x10',
    ' 1',
    '1\n',
    '١',
    'NaN',
    'Infinity',
    '1,5',
    '--1',
  ])('refuses %j', (text) => {
    expect(canonicalDecimal(text)).toBeUndefined();
  });

  it('keeps the value and writes one form of it', () => {
    fc.assert(
      fc.property(decimals, (text) => {
        const written = canonicalDecimal(text) ?? '';
        expect(worthOf(written)).toBe(worthOf(text));
        expect(written).toMatch(/^(?:0|-?(?:[1-9][0-9]*|0\.[0-9]*[1-9]|[1-9][0-9]*\.[0-9]*[1-9]))$/);
        expect(canonicalDecimal(`${text}${text.includes('.') ? '0' : '.0'}`)).toBe(written);
        expect(Number(JSON.parse(written))).toBe(Number(text) + 0);
      }),
    );
  });
});
