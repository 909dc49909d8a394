import { withoutBracketed } from '../../services/domain/text/trimmed.ts';
import { visible } from '../../services/domain/text/visible-text.ts';

/** The parts of a webhook's body that a line shows. */
export interface BodySummary {
  readonly type: string | undefined;
  readonly subType: string | undefined;
  /** type/subType, or a description of another body. */
  readonly title: string;
  /** "EUR 250 → USDC 266.09 polygon  tx 55561af3"; empty for a body without any of it. */
  readonly text: string;
}

/** The characters of an id that tell it from the others on a screen. */
const ID_SHOWN = 8;
const WORDS_MAX = 60;

/** Summarises a webhook's body. Text of the body is made visible: a terminal obeys none of it. */
export function summarise(body: Buffer): BodySummary {
  const { type, subType, uuid, data } = parsed(body);
  if (typeof type !== 'string') {
    const title = `${body.length} bytes that are not a webhook body`;
    return { type: undefined, subType: undefined, title, text: '' };
  }
  const named = typeof subType === 'string' ? subType : undefined;
  const parts = [...moneyOf(type, data), ...stateOf(named, data), ...idsOf(uuid, data)];
  return {
    type,
    subType: named,
    title: visible(named === undefined ? type : `${type}/${named}`),
    text: visible(parts.join('  ')),
  };
}

/** Returns the first words of a text that an app answered with: an error page has them between its tags. */
export function firstWords(body: Buffer, contentType = ''): string {
  const text = body.toString('utf8');
  const plain = /html/i.test(contentType) || /^\s*<(!doctype|html)/i.test(text) ? withoutTags(text) : text;
  const json = /json/i.test(contentType) ? messageIn(plain) : undefined;
  const line = (json ?? plain)
    .split('\n')
    .map((each) => each.trim())
    .find((each) => each !== '');
  return visible((line ?? '').slice(0, WORDS_MAX));
}

function parsed(body: Buffer): Record<'type' | 'subType' | 'uuid' | 'data', unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (isObject(value)) {
      return { type: value.type, subType: value.subType, uuid: value.uuid, data: value.data };
    }
  } catch {
    // Not JSON: shown as such.
  }
  return { type: undefined, subType: undefined, uuid: undefined, data: undefined };
}

/** On-ramp and off-ramp: what is paid, and what becomes of it. */
function moneyOf(type: string, data: unknown): string[] {
  if (!isObject(data)) return [];
  const fiat = amount(data.currencyFiat, data.amountFiat);
  const crypto = amount(data.currencyCrypto, data.amountCrypto);
  const both = type === 'cryptoToFiat' ? [crypto, fiat] : [fiat, crypto];
  const money = both.filter((each) => each !== '').join(' → ');
  const chain = typeof data.chain === 'string' ? data.chain : '';
  return [[money, chain].filter((each) => each !== '').join(' ')].filter((each) => each !== '');
}

/** Returns "EUR 250"; empty without an amount. */
function amount(currency: unknown, value: unknown): string {
  if (typeof value !== 'number' && typeof value !== 'string') return '';
  return typeof currency === 'string' ? `${currency} ${value}` : `${value}`;
}

/** A status that says more than the subType, and why. */
function stateOf(subType: string | undefined, data: unknown): string[] {
  if (!isObject(data)) return [];
  const { status, error, reason } = data;
  return [status === subType ? undefined : status, reason, error].filter(
    (each): each is string => typeof each === 'string' && each !== '',
  );
}

function idsOf(uuid: unknown, data: unknown): string[] {
  if (isObject(data) && typeof data.transactionUuid === 'string') {
    return [`tx ${data.transactionUuid.slice(0, ID_SHOWN)}`];
  }
  return typeof uuid === 'string' ? [uuid.slice(0, ID_SHOWN)] : [];
}

const HIDDEN_TAGS = ['head', 'style', 'script'] as const;

/** Returns a page without the elements of one name. One that is not closed stays. */
function withoutElements(html: string, tag: string): string {
  const lower = html.toLowerCase();
  let result = '';
  let from = 0;
  for (let at = lower.indexOf(`<${tag}`); at >= 0; at = lower.indexOf(`<${tag}`, at + 1)) {
    if (at < from || /[\w-]/.test(lower[at + tag.length + 1] ?? '')) continue;
    const end = lower.indexOf(`</${tag}>`, at);
    if (end < 0) break;
    result += `${html.slice(from, at)} `;
    from = end + tag.length + 3;
  }
  return result + html.slice(from);
}

function withoutTags(html: string): string {
  const page = HIDDEN_TAGS.reduce((text, tag) => withoutElements(text, tag), html).replace(
    /<br\b ?\/?>/gi,
    '\n',
  );
  return withoutBracketed(page, '<', '>', ' ')
    .replace(/&nbsp;/g, ' ')
    .replace(/&#39;|&apos;/g, "'")
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&');
}

/** Returns the message in an error of JSON, however it is named. */
function messageIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return undefined;
    const { error, message, detail, title } = value;
    const inner = isObject(error) ? error.message : error;
    return [message, detail, inner, title].find((each): each is string => typeof each === 'string');
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
