import { fieldsOf } from '../../services/domain/catalog/catalog.ts';
import type { Field } from '../../services/domain/catalog/field.ts';
import type { DomainEvent, EventData, EventType, EventValue } from '../../services/domain/event.ts';
import { sampleAccount } from '../../services/samples/bank-accounts.ts';
import { CHAIN_NAMES, sampleAddress, sampleTransactionHash } from '../../services/samples/chains.ts';
import { Chance } from '../../services/samples/chance.ts';
import { makeNuban } from '../../services/samples/check-digits.ts';
import { corporateName, emailAddress, personName } from '../../services/samples/names.ts';
import { mapStrings } from './rewrite.ts';

/** How the value of a field is replaced; `text` is written by people, and may repeat other values. */
type Treatment =
  | 'person'
  | 'corporate'
  | 'iban'
  | 'account'
  | 'phone'
  | 'email'
  | 'registration'
  | 'address'
  | 'hash'
  | 'text';

/** Fields that identify a person, a corporate or an account. A test holds the table to the catalogue. */
export const REDACTED: Readonly<Record<string, Treatment>> = {
  senderName: 'person',
  receiverName: 'person',
  expectedName: 'person',
  legal_name: 'corporate',
  registration_number: 'registration',
  iban: 'iban',
  accountNumber: 'account',
  account_number: 'account',
  phoneNumber: 'phone',
  emailAddress: 'email',
  walletAddress: 'address',
  sendingWalletAddress: 'address',
  sendingAddress: 'address',
  address: 'address',
  transactionHash: 'hash',
  error: 'text',
  reason: 'text',
  diagnosticCode: 'text',
  message: 'text',
  kyc_enduser_error_message: 'text',
};

/** Shorter values are not looked for in text: they would be found by accident. */
const FOUND_LENGTH_MIN = 5;
/** With the longest lengths of RFC 5321, section 4.5.3.1. */
const EMAIL = /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g;
const IBAN = /\b[A-Z]{2}\d{2}[A-Z0-9]{11,30}\b/g;

/** The object that a field is in, and the event: some values depend on their neighbours. */
interface Place {
  readonly around: EventData;
  readonly event: DomainEvent;
}

/**
 * Replaces what identifies people and accounts by made-up values that pass the same checks: names, e-mail addresses,
 * account numbers, IBANs, addresses and hashes. The same value becomes the same new one in all events, by the seed;
 * without the seed nobody can tell the old value by trying.
 */
export function redacted(events: readonly DomainEvent[], seed: string): readonly DomainEvent[] {
  const replacements = new Map<string, string>();
  const once = events.map((event) => ({
    ...event,
    data: replaceIn(fieldsOf(event.type), event.data, event, (treatment, value, place) => {
      const made = replacement(treatment, value, place, seed);
      if (made !== undefined) replacements.set(value, made);
      return made ?? value;
    }),
  }));
  // A text may repeat a value of any event, so it comes last.
  const long = [...replacements].filter(([old]) => old.length >= FOUND_LENGTH_MIN);
  long.sort(([a], [b]) => b.length - a.length);
  const made = new Set(replacements.values());
  const inText = (text: string) => {
    let changed = text;
    for (const [old, next] of long) changed = changed.replaceAll(old, next);
    const other = (kind: 'email' | 'iban') => (found: string) =>
      made.has(found) ? found : (replacement(kind, found, undefined, seed) ?? found);
    return changed.replace(EMAIL, other('email')).replace(IBAN, other('iban'));
  };
  return once.map((event) => ({ ...event, data: textsChanged(event.type, event.data, inText) }));
}

function textsChanged(type: EventType, data: EventData, change: (text: string) => string): EventData {
  const isText = (name: string) => REDACTED[name] === 'text';
  const copy = { ...data };
  for (const { name } of fieldsOf(type)) {
    const value = copy[name];
    if (value === undefined) continue;
    if (typeof value === 'string' && isText(name)) copy[name] = change(value);
    else if (Array.isArray(value)) {
      copy[name] = value.map((item) => (isObject(item) ? mapTexts(item, isText, change) : item));
    }
  }
  return copy;
}

function mapTexts(
  item: EventData,
  isText: (name: string) => boolean,
  change: (text: string) => string,
): EventData {
  const entries = Object.entries(item).map(([name, value]) => [
    name,
    isText(name) ? (mapStrings({ value }, change).value ?? value) : value,
  ]);
  return Object.fromEntries(entries);
}

type Replace = (treatment: Treatment, value: string, place: Place) => string;

function replaceIn(
  fields: readonly Field[],
  data: EventData,
  event: DomainEvent,
  replace: Replace,
): EventData {
  const copy = { ...data };
  for (const { name, fields: nested = [] } of fields) {
    const value = data[name];
    const treatment = REDACTED[name];
    if (typeof value === 'string') {
      if (treatment !== undefined && treatment !== 'text')
        copy[name] = replace(treatment, value, { around: data, event });
    } else if (isObject(value)) copy[name] = replaceIn(nested, value, event, replace);
    else if (Array.isArray(value)) {
      copy[name] = value.map((item) => (isObject(item) ? replaceIn(nested, item, event, replace) : item));
    }
  }
  return copy;
}

function isObject(value: EventValue | undefined): value is EventData {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the made-up value; undefined where the old one has no form that is known. */
function replacement(
  treatment: Treatment,
  value: string,
  place: Place | undefined,
  seed: string,
): string | undefined {
  const who = `${seed} ${value}`;
  const chance = new Chance('redact', seed, treatment, value);
  switch (treatment) {
    case 'person':
      return place?.event.entityKind === 'CORPORATE' ? corporateName(who, '') : personName(who, 'ascii');
    case 'corporate':
      return corporateName(who, '');
    case 'email':
      return emailAddress(who);
    case 'iban':
      return madeUpIban(value, chance);
    case 'account':
      return accountNumber(value, place, chance);
    case 'phone':
      // The country and the operator stay, so that it is still a number of the provider.
      return value.slice(0, -7) + sameShape(value.slice(-7), chance);
    case 'registration':
      return sameShape(value, chance);
    case 'address':
    case 'hash':
      return onChain(treatment, value, place, chance);
    case 'text':
      return undefined;
  }
}

function madeUpIban(value: string, chance: Chance): string {
  try {
    const iban = sampleAccount('EUR', value.slice(0, 2), chance).details.iban;
    if (iban !== undefined) return iban;
  } catch {
    // A country whose national numbers are not known: any of those that are.
  }
  return sampleAccount('EUR', 'DE', chance).details.iban ?? value;
}

/** The bank stays; a Nigerian number has the check digit over the bank's code. */
function accountNumber(value: string, place: Place | undefined, chance: Chance): string {
  const bankCode = place?.around.bankCode ?? place?.around.bank_code;
  if (place?.around.currency === 'NGN' && typeof bankCode === 'string' && /^\d{10}$/.test(value)) {
    return makeNuban(bankCode, chance.digits(9));
  }
  return sameShape(value, chance);
}

function onChain(
  treatment: 'address' | 'hash',
  value: string,
  place: Place | undefined,
  chance: Chance,
): string {
  const named = place?.event.data.chain;
  const chain = typeof named === 'string' && CHAIN_NAMES.includes(named) ? named : undefined;
  if (chain === undefined) return sameShape(value, chance);
  return treatment === 'address' ? sampleAddress(chain, chance) : sampleTransactionHash(chain, chance);
}

/** Replaces each digit by a digit and each letter by a letter; what begins with 0x stays hexadecimal. */
function sameShape(value: string, chance: Chance): string {
  if (/^0x[0-9a-f]+$/i.test(value)) return `0x${chance.hex(value.length - 2)}`;
  return value.replace(/[0-9A-Za-z]/g, (character) => {
    if (/\d/.test(character)) return chance.digits(1);
    const letter = chance.letters(1);
    return character === character.toLowerCase() ? letter.toLowerCase() : letter;
  });
}
