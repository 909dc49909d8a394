/** Headers of a merchant's own: no list gets through that could change another header, the body or the connection. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  headersFault,
  headersText,
  isReservedHeader,
  parseHeaders,
  secretsOf,
} from '../../../services/domain/controls/custom-headers.ts';
import { webhookHeaders } from '../../../services/domain/webhook-request.ts';

const faultOf = (name: string, value?: string) =>
  headersFault([value === undefined ? { name } : { name, value }])?.code ?? null;

describe('a name', () => {
  test.each(['X-Api-Key', 'x', 'Cookie', '__proto__', 'constructor', "!#$%&'*+-.^_`|~09Az", 'X'.repeat(64)])(
    'may be %s',
    (name) => expect(faultOf(name, 'v')).toBeNull(),
  );

  test.each([
    ['is empty', ''],
    ['has a line break', 'X-A\r\nX-B'],
    ['ends in a line feed', 'X-A\n'],
    ['has a NUL', 'X-A\0'],
    ['has a colon', 'X-A: b'],
    ['has a space', 'X A'],
    ['begins with a space, as a folded line', ' X-A'],
    ['has a letter beyond ASCII', 'X-Ä'],
    ['has a Kelvin sign, which is a k in lower case', 'Webhoo\u212A-Id'],
    ['has a full-width letter', 'Ｈost'],
    ['is a pseudo header', ':path'],
    ['has 65 characters', 'X'.repeat(65)],
  ])('that %s is refused', (_what, name) => expect(faultOf(name, 'v')).toBe('header_name_invalid'));

  test.each([
    ...[
      'Authorization',
      'AUTHORIZATION',
      'hOsT',
      'Accept',
      'Accept-Encoding',
      'Content-Length',
      'content-type',
    ],
    ...['Connection', 'Keep-Alive', 'Proxy-Authorization', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade'],
    ...['HTTP2-Settings', 'Expect', 'User-Agent', 'webhook-id', 'Webhook-Signature', 'webhook-anything'],
    ...['traceparent', 'TraceState'],
  ])('%s is reserved, and the fault names it', (name) => {
    const fault = headersFault([
      { name: 'X-A', value: 'v' },
      { name, value: 'v' },
    ]);
    expect(fault).toMatchObject({ index: 1, field: 'name', code: 'header_reserved' });
    expect(fault?.detail).toContain(name);
  });

  test('that hookrail sends itself is reserved, whichever it is', () => {
    const delivery = {
      deliveryId: 'd',
      eventId: 'e',
      endpointId: 'p',
      entityId: 'n',
      subjectId: null,
    } as const;
    const rest = { sequence: 1, apiVersion: '2.3.8', trigger: 'test', attempt: 1, occurredAt: 0 } as const;
    const sent = webhookHeaders({ delivery: { ...delivery, ...rest }, startedAt: 0, signature: 's' }, 'a');
    const names = sent.filter((_text, index) => index % 2 === 0);
    expect(names.filter((name) => !isReservedHeader(name))).toEqual([]);
  });

  test('is in a list once, whatever its case', () => {
    const fault = headersFault([
      { name: 'X-A', value: '1' },
      { name: 'x-a', value: '2' },
    ]);
    expect(fault).toMatchObject({ index: 1, code: 'header_repeated' });
  });
});

describe('a value', () => {
  test.each(['v', 'Bearer abc.def', 'a\tb', '!~', 'x'.repeat(1024), '{"a": [1, 2]}'])('may be %j', (value) =>
    expect(faultOf('X-A', value)).toBeNull(),
  );

  test.each([
    ['is empty', ''],
    ['adds a header', 'v\r\nAuthorization: API-Key forged'],
    ['ends the head and adds a body', 'v\r\n\r\n{}'],
    ['has a lone carriage return', 'v\rw'],
    ['has a lone line feed', 'v\nw'],
    ['ends in a line feed', 'v\n'],
    ['is folded over two lines', 'v\r\n w'],
    ['has a NUL', 'v\0w'],
    ['has another control character', 'v\u007f'],
    ['has a letter beyond ASCII', 'vé'],
    ['has a letter whose low byte is a line feed', 'v\u010aw'],
    ['has a line separator', 'v\u2028w'],
    ['has half of a pair', 'v\ud800'],
    ['begins with a space', ' v'],
    ['ends with a tab', 'v\t'],
    ['has 1025 characters', 'x'.repeat(1025)],
  ])('that %s is refused, and the fault names the header without the value', (_what, value) => {
    const fault = headersFault([{ name: 'X-Gateway', value }]);
    expect(fault).toMatchObject({ field: 'value', code: 'header_value_invalid' });
    expect(fault?.detail).toContain('X-Gateway');
    if (value.length > 4) expect(fault?.detail).not.toContain(value);
  });

  test('of any text is accepted only if it is one line of visible ASCII', () => {
    // Random text hardly ever has a line break between visible characters.
    const unit = fc.constantFrom(
      ...'aZ!~09',
      ' ',
      '\t',
      '\r',
      '\n',
      '\v',
      '\f',
      '\0',
      '\x7f',
      '\xa0',
      '\u2028',
    );
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ unit, maxLength: 6 }));
    fc.assert(
      fc.property(text, (value) => {
        const isOneLine = /^[!-~]([\t -~]*[!-~])?$/.test(value) && !/[^\t -~]/.test(value);
        expect(faultOf('X-A', value) === null).toBe(isOneLine);
      }),
    );
  });
});

test('a list is the same after it was sealed and opened, also with a name that JavaScript gives a meaning', () => {
  const headers = [
    { name: '__proto__', value: '"a", \\b' },
    { name: 'constructor', value: 'c' },
  ];
  expect(parseHeaders(headersText(headers))).toEqual(headers);
});

test('the secrets of a list are its long values and their long parts, and no short word', () => {
  const headers = [
    { name: 'X-A', value: 'Bearer 0123456789abcdef' },
    { name: 'X-B', value: 'eu' },
    { name: 'X-C', value: 'a b c d e f g h' },
  ];
  expect(secretsOf(headers)).toEqual(['Bearer 0123456789abcdef', '0123456789abcdef']);
});
