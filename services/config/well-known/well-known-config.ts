import { as, ConfigError, Malformed, type Values, variable } from '../variables.ts';
import { INSTANT_EXAMPLE, parseInstant } from './instant.ts';
import { sourceAddresses } from './source-addresses.ts';

/** The contents of security.txt (RFC 9116). */
export interface SecurityTxt {
  /** Addresses for reports, the preferred one first. */
  readonly contacts: readonly string[];
  /** Milliseconds. */
  readonly expires: number;
  /** Empty: none. */
  readonly policy: string;
  readonly languages: readonly string[];
}

/** The variables of what the api tells everybody below /.well-known. */
export const WELL_KNOWN_VARIABLES = {
  HOOKRAIL_SOURCE_ADDRESSES: variable(
    sourceAddresses,
    [],
    'Addresses and CIDRs from which webhooks are sent, comma separated, for the firewalls of merchants; with `HOOKRAIL_EGRESS_PROXY` those of the proxy. ' +
      'One that comes or goes has its time: `203.0.113.0/28, 198.51.100.7 until 2027-03-01, 2001:db8::/48 from 2027-02-01`. ' +
      'A date means midnight UTC. Empty: merchants are told that the addresses are not fixed.',
  ),
  HOOKRAIL_SECURITY_CONTACTS: variable(
    as.list(contact),
    [],
    'Where to report a security problem, for `/.well-known/security.txt`, comma separated, the preferred one first: ' +
      '`mailto:security@example.com,https://example.com/report`. Empty: there is no such document.',
  ),
  HOOKRAIL_SECURITY_EXPIRES: variable(
    expires,
    '',
    'When `security.txt` is out of date, best within a year: `2027-01-31`. From then on it is not served. Required with `HOOKRAIL_SECURITY_CONTACTS`.',
  ),
  HOOKRAIL_SECURITY_POLICY: variable(
    policy,
    '',
    'The platform’s page on how it treats such reports: `https://example.com/security`. Empty: none.',
  ),
  HOOKRAIL_SECURITY_LANGUAGES: variable(
    as.list(language),
    [],
    'Languages in which reports are read, comma separated: `en,de`. Empty: not told.',
  ),
} as const;

type WellKnownValues = Values<typeof WELL_KNOWN_VARIABLES>;

export function wellKnownConfig(values: WellKnownValues) {
  return { sources: values.HOOKRAIL_SOURCE_ADDRESSES, securityTxt: securityTxt(values) };
}

function securityTxt(values: WellKnownValues): SecurityTxt | null {
  const {
    HOOKRAIL_SECURITY_CONTACTS: contacts,
    HOOKRAIL_SECURITY_EXPIRES: until,
    HOOKRAIL_SECURITY_POLICY: page,
    HOOKRAIL_SECURITY_LANGUAGES: languages,
  } = values;
  const others = [
    'HOOKRAIL_SECURITY_EXPIRES',
    'HOOKRAIL_SECURITY_POLICY',
    'HOOKRAIL_SECURITY_LANGUAGES',
  ] as const;
  const given = others.filter((name) => values[name].length > 0);
  if (contacts.length === 0) {
    if (given.length === 0) return null;
    throw new ConfigError(
      `${given.join(' and ')} is set without HOOKRAIL_SECURITY_CONTACTS: set it too, or none`,
    );
  }
  if (until === '')
    throw new ConfigError(
      'HOOKRAIL_SECURITY_CONTACTS is set without HOOKRAIL_SECURITY_EXPIRES: say until when they hold (RFC 9116)',
    );
  return { contacts, expires: Date.parse(until), policy: page, languages };
}

/** An address in a line of its own: nothing invisible, nothing that ends the line. */
const VISIBLE = /^[\x21-\x7e]+$/;
const E_MAIL = /^[^\s@:/]+@[^\s@:/]+$/;

function contact(entry: string): string {
  const isAddress =
    /^mailto:[^\s@]+@[^\s@]+$/.test(entry) || /^tel:\+?[\d-]{3,}$/.test(entry) || isHttps(entry);
  if (VISIBLE.test(entry) && isAddress) return entry;
  const hint = E_MAIL.test(entry) ? `: write mailto:${entry}` : '';
  throw new Malformed(
    `must be addresses that begin with mailto:, tel: or https://; "${entry}" is none${hint}`,
  );
}

function policy(text: string): string {
  if (text === '' || isHttps(text)) return text;
  throw new Malformed('must be an https address: https://example.com/security');
}

function isHttps(text: string): boolean {
  return VISIBLE.test(text) && /^https:\/\/[^/]/.test(text) && URL.canParse(text);
}

/** Returns the time as ISO text, or nothing. */
function expires(text: string): string {
  const at = text === '' ? undefined : parseInstant(text);
  if (at !== undefined) return new Date(at).toISOString();
  if (text === '') return text;
  throw new Malformed(`must be a time: ${INSTANT_EXAMPLE}`);
}

function language(entry: string): string {
  const [known] = /^[a-z]{2,3}(?:-[a-z\d]{1,8})*$/i.test(entry) ? languageTags(entry) : [];
  if (known !== undefined) return known;
  throw new Malformed(`must be language tags (en, pt-BR); "${entry}" is none`);
}

function languageTags(entry: string): readonly string[] {
  try {
    return Intl.getCanonicalLocales(entry);
  } catch {
    return [];
  }
}
