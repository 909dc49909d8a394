/** A header of a merchant's own, in plain text. */
export interface CustomHeader {
  readonly name: string;
  readonly value: string;
}

/** A header as a request gives it. Without a value: the one that is stored under this name stays. */
export interface HeaderGiven {
  readonly name: string;
  readonly value?: string;
}

/** A rule that a list of headers breaks. `detail` names the header, never its value. */
export interface HeaderFault {
  readonly index: number;
  readonly field: 'name' | 'value';
  readonly code: 'header_name_invalid' | 'header_reserved' | 'header_repeated' | 'header_value_invalid';
  readonly detail: string;
}

const NAME_MAX = 64;
const VALUE_MAX = 1024;
/** Of all names and values together: common servers read a head of 8 KB, and hookrail's own part needs about 1.5. */
export const HEADERS_LENGTH_MAX = 4096;

/** A token of RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Visible ASCII with spaces and tabs inside, RFC 9110, 5.5, without its obsolete parts. */
const VALUE = /^[!-~](?:[\t -~]*[!-~])?$/;

/** Headers that hookrail sends itself, that frame or address a request, or that belong to one connection. */
const RESERVED: ReadonlySet<string> = new Set([
  'authorization',
  'host',
  'user-agent',
  'expect',
  'traceparent',
  'tracestate',
  'accept',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);
const RESERVED_BEGINNINGS = ['accept-', 'content-', 'proxy-', 'webhook-'] as const;

/** A value, or a part of one between spaces, that is shorter is no secret: removing it would spoil responses. */
const SECRET_MIN = 12;

/** Returns whether hookrail keeps a header to itself. */
export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return RESERVED.has(lower) || RESERVED_BEGINNINGS.some((beginning) => lower.startsWith(beginning));
}

/** Returns the first rule that a list breaks, or null. */
export function headersFault(headers: readonly HeaderGiven[]): HeaderFault | null {
  const names = new Set<string>();
  for (const [index, { name, value }] of headers.entries()) {
    const fault = nameFault(name, names) ?? (value === undefined ? null : valueFault(name, value));
    if (fault) return { index, ...fault };
    names.add(name.toLowerCase());
  }
  return null;
}

type Fault = Omit<HeaderFault, 'index'>;

function nameFault(name: string, before: ReadonlySet<string>): Fault | null {
  const field = 'name';
  if (!TOKEN.test(name) || name.length > NAME_MAX) {
    const detail = `must be a header name of 1 to ${NAME_MAX} letters, digits and the characters of a token (RFC 9110)`;
    return { field, code: 'header_name_invalid', detail };
  }
  if (isReservedHeader(name)) {
    const detail = `${name} is reserved: hookrail sends it itself, or it belongs to the connection; choose another name`;
    return { field, code: 'header_reserved', detail };
  }
  if (!before.has(name.toLowerCase())) return null;
  return { field, code: 'header_repeated', detail: `${name} is in the list twice; names have no case` };
}

function valueFault(name: string, value: string): Fault | null {
  if (value.length <= VALUE_MAX && VALUE.test(value)) return null;
  const detail =
    `the value of ${name} must be 1 to ${VALUE_MAX} visible ASCII characters, with spaces and tabs only between them ` +
    'and no line break';
  return { field: 'value', code: 'header_value_invalid', detail };
}

/** Returns the number of characters of a list, which HEADERS_LENGTH_MAX limits. */
export function headersLength(headers: readonly CustomHeader[]): number {
  return headers.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
}

/** Returns the text that is sealed. */
export function headersText(headers: readonly CustomHeader[]): string {
  return JSON.stringify(headers.map(({ name, value }) => [name, value]));
}

/** Parses the text that was sealed. */
export function parseHeaders(text: string): CustomHeader[] {
  const pairs = JSON.parse(text) as readonly (readonly [name: string, value: string])[];
  return pairs.map(([name, value]) => ({ name, value }));
}

/** Returns what a receiver's response must not show: the values, and what stands between their spaces, as in `Bearer …`. */
export function secretsOf(headers: readonly CustomHeader[]): string[] {
  const all = headers.flatMap(({ value }) => [value, ...value.split(/[\t ]+/)]);
  return [...new Set(all)].filter((text) => text.replaceAll(/[\t ]/g, '').length >= SECRET_MIN);
}
