/** Check digits that receivers verify: IBAN (ISO 13616), Nigerian NUBAN, American ABA routing numbers. */

/** Lengths of the IBANs of the countries that samples use, and their neighbours. */
const IBAN_LENGTHS: Readonly<Record<string, number>> = {
  AT: 20,
  BE: 16,
  CH: 21,
  CZ: 24,
  DE: 22,
  DK: 18,
  ES: 24,
  FI: 18,
  FR: 27,
  GB: 22,
  IE: 22,
  IT: 27,
  LT: 20,
  LU: 20,
  NL: 18,
  PL: 28,
  PT: 25,
  SE: 24,
};

/** Returns an IBAN's remainder modulo 97, letters counting from A = 10 (ISO 7064). */
function mod97(text: string): number {
  let remainder = 0;
  for (const character of text) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder;
}

/** Returns the IBAN of a country's own account number (BBAN): country, two check digits, BBAN. */
export function makeIban(country: string, bban: string): string {
  const check = 98 - mod97(`${bban}${country}00`);
  return `${country}${String(check).padStart(2, '0')}${bban}`;
}

/** Returns whether the check digits and, where known, the country's length are right. Accepts no spaces. */
export function validIban(iban: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$/.test(iban)) return false;
  const length = IBAN_LENGTHS[iban.slice(0, 2)];
  if (length !== undefined && iban.length !== length) return false;
  return mod97(iban.slice(4) + iban.slice(0, 4)) === 1;
}

function weighted(digits: string, weights: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1) sum += Number(digits[i]) * (weights[i % weights.length] ?? 0);
  return sum;
}

/** Returns a NUBAN: nine digits of serial and the check digit over bank code and serial, weights 3, 7, 3. */
export function makeNuban(bankCode: string, serial: string): string {
  return `${serial}${(10 - (weighted(bankCode + serial, [3, 7, 3]) % 10)) % 10}`;
}

export function validNuban(bankCode: string, accountNumber: string): boolean {
  if (!/^[0-9]{3}$/.test(bankCode) || !/^[0-9]{10}$/.test(accountNumber)) return false;
  return makeNuban(bankCode, accountNumber.slice(0, 9)) === accountNumber;
}

/**
 * Returns a routing number: eight digits and the one that brings the sum with weights 3, 7, 1 to a multiple of ten.
 */
export function makeAba(eightDigits: string): string {
  return `${eightDigits}${(10 - (weighted(eightDigits, [3, 7, 1]) % 10)) % 10}`;
}

export function validAba(routingNumber: string): boolean {
  return /^[0-9]{9}$/.test(routingNumber) && weighted(routingNumber, [3, 7, 1]) % 10 === 0;
}
