import { Chance } from './chance.ts';
import { mustBeOneOf } from './choice-error.ts';

/** First and last names that are common in their locale, so that they identify nobody. `ascii` is the default. */
const NAMES = {
  ascii: {
    first: ['Anna', 'Daniel', 'Grace', 'Leo', 'Maria', 'Oliver', 'Sofia', 'Thomas', 'Amara', 'Victor'],
    last: ['Bennett', 'Carter', 'Fischer', 'Keller', 'Martin', 'Novak', 'Okafor', 'Romano', 'Silva', 'Weber'],
  },
  de: {
    first: ['Jürgen', 'Käthe', 'Björn', 'Anneliese', 'Götz', 'Sören'],
    last: ['Müller', 'Schäfer', 'Groß', 'Böhm', 'Köhler', 'Weiß'],
  },
  es: {
    first: ['José', 'María', 'Íñigo', 'Begoña', 'Ángel', 'Inés'],
    last: ['Muñoz', 'García', 'Núñez', 'López', 'Ibáñez', 'Peña'],
  },
  fr: {
    first: ['Zoé', 'François', 'Hélène', 'Noël', 'Aurélie', 'Loïc'],
    last: ['Lefèvre', 'Gérard', 'Français', 'Besançon', 'Noël', 'Châtelain'],
  },
  pl: {
    first: ['Łukasz', 'Małgorzata', 'Stanisław', 'Zofia', 'Paweł', 'Jagoda'],
    last: ['Wójcik', 'Dąbrowski', 'Kamiński', 'Zieliński', 'Szymański', 'Król'],
  },
} as const satisfies Record<string, { readonly first: readonly string[]; readonly last: readonly string[] }>;

export type SampleLocale = keyof typeof NAMES;
export const SAMPLE_LOCALES = Object.keys(NAMES) as readonly SampleLocale[];

const CORPORATE_WORDS = [
  'Alder',
  'Beacon',
  'Copperfield',
  'Delta',
  'Evergreen',
  'Foxglove',
  'Granite',
  'Hollow',
];
const CORPORATE_TRADES = ['Logistics', 'Trading', 'Software', 'Foods', 'Textiles', 'Consulting'];
const CORPORATE_FORMS: Readonly<Record<string, string>> = {
  DE: 'GmbH',
  AT: 'GmbH',
  FR: 'SAS',
  ES: 'SL',
  NL: 'BV',
  BE: 'BV',
  US: 'Inc',
};

/** Returns a person's name: the same person (`who`) always has the same. */
export function personName(who: string, locale: SampleLocale): string {
  mustBeOneOf('locale', locale, SAMPLE_LOCALES);
  const chance = new Chance('person', who, locale);
  return `${chance.pick(NAMES[locale].first)} ${chance.pick(NAMES[locale].last)}`;
}

/** Returns a corporate's registered name: the same corporate (`who`) in a country always has the same. */
export function corporateName(who: string, country: string): string {
  const chance = new Chance('corporate', who);
  const form = CORPORATE_FORMS[country] ?? 'Ltd';
  return `${chance.pick(CORPORATE_WORDS)} ${chance.pick(CORPORATE_TRADES)} ${form}`;
}

/** Returns an address at a domain that is reserved for examples (RFC 2606), so that no mail reaches anyone. */
export function emailAddress(who: string): string {
  const name = personName(who, 'ascii').toLowerCase().replace(' ', '.');
  return `${name}.${new Chance('email', who).digits(3)}@example.com`;
}
