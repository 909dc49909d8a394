/** Each way in which a check of a signature fails has a sentence of its own, which names the cause. */
import { describe, expect, test } from 'vitest';
import { sign } from '../../../services/domain/signature.ts';
import { verifyRequest } from '../../../simulator/receiver/verification.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const ID = '0b5f4c1e-7a57-4f0c-9a0a-3d4b1c2e5f60';
const AT = 1_790_000_000;
const BODY =
  '{"type":"KYC","url":"https://a.example/b","name":"Zoë “K”","amount":10.00,"path":"C:\\\\u0041"}';

type Changed = Readonly<Record<string, string | undefined>>;

function headersOf(changed: Changed = {}) {
  return {
    authorization: `API-Key ${SECRET}`,
    'webhook-id': ID,
    'webhook-timestamp': `${AT}`,
    'webhook-signature': sign(SECRET, ID, AT, BODY),
    ...changed,
  };
}

/** Returns the sentences of the checks that fail. */
function faults(
  body: string | Uint8Array,
  changed: Changed = {},
  secret = SECRET,
  now = AT + 2,
): readonly string[] {
  const request = { headers: headersOf(changed), body: Buffer.from(body) };
  const { authentic, checks } = verifyRequest(request, secret, now);
  const failed = checks.filter(({ ok }) => !ok).map(({ detail }) => detail);
  expect(authentic).toBe(failed.length === 0);
  return failed;
}

test('a webhook as it was sent is authentic', () => {
  expect(faults(BODY)).toEqual([]);
});

describe('a changed body', () => {
  const cases: readonly (readonly [change: string, body: string | Uint8Array, says: RegExp])[] = [
    [
      'a line feed at its end',
      `${BODY}\n`,
      /^the signature does not match: the body ends with a line break \(LF\)/,
    ],
    ['CRLF at its end', `${BODY}\r\n`, /ends with a line break \(CRLF\)/],
    ['a space before it', ` ${BODY}`, /white space around it/],
    ['a byte order mark', `\ufeff${BODY}`, /byte order mark/],
    ['JSON laid out anew', BODY.replaceAll(',"', ',\r\n  "'), /laid out anew/],
    [
      'escaped letters',
      BODY.replace('ë', '\\u00eb').replace('“', '\\u201c').replace('”', '\\u201d'),
      /json\.dumps/,
    ],
    ['escaped slashes', BODY.replaceAll('/', '\\/'), /with \\\/ for \//],
    ['quotation marks around it', JSON.stringify(BODY), /in quotation marks/],
    ['UTF-8 read as Latin-1', Buffer.from(BODY).toString('latin1'), /read as Latin-1/],
    ['UTF-8 read as Windows-1252', new TextDecoder('windows-1252').decode(Buffer.from(BODY)), /Windows-1252/],
    ['nothing in it', '', /the body is empty/],
    ['an object made a text', '[object Object]', /a parsed object made a text/],
    ['its end cut off', BODY.slice(0, -4), /not JSON: it is cut off/],
    ['bytes that are not UTF-8', Buffer.from([0x1f, 0x8b, 0xff]), /is not UTF-8/],
    ['replacement characters', BODY.replace('ë', '\ufffd'), /replacement character/],
    ['another digit', BODY.replace('10.00', '10.01'), /another secret, or a changed body, id or timestamp$/],
  ];
  test.each(cases)('with %s is named', (_, body, says) => {
    expect(faults(body)).toEqual([expect.stringMatching(says)]);
  });

  test('with two changes has both named', () => {
    const [says = ''] = faults(`${BODY.replaceAll('/', '\\/')}\n`);
    expect(says).toMatch(/line break \(LF\).*; and .*with \\\/ for \//);
  });

  test('an escaped backslash before "u" is no escape', () => {
    const escaped = BODY.replace('ë', '\\u00eb').replace('“', '\\u201c').replace('”', '\\u201d');
    expect(escaped).toContain('C:\\\\u0041');
    expect(faults(escaped)).toEqual([expect.stringContaining('\\u escapes')]);
  });
});

describe('the secret', () => {
  test.each([
    ['a space before it', ` ${SECRET}`, /a space, line break or quotation mark/],
    ['quotation marks around it', `"${SECRET}"`, /a space, line break or quotation mark/],
    ['its beginning cut off', SECRET.slice('whsec_'.length), /lacks its beginning "whsec_"/],
    ['the scheme before it', `API-Key ${SECRET}`, /has the scheme "API-Key" before it/],
  ])('with %s is named', (_, secret, says) => {
    expect(faults(BODY, { authorization: undefined }, secret)[1]).toMatch(says);
  });

  test('of another endpoint is named by the one that Authorization carries', () => {
    const [authorization, signature] = faults(BODY, {}, OTHER);
    expect(authorization).toContain('carries another secret');
    expect(signature).toContain('it was made with the secret that Authorization carries (…HBwc');
    expect(signature).not.toContain(SECRET);
  });

  test('that is cut off is named', () => {
    expect(faults(BODY, { authorization: undefined }, SECRET.slice(0, 20))[1]).toContain(
      'the secret is not whole',
    );
  });
});

describe('the headers', () => {
  test.each<readonly [string, Changed, RegExp]>([
    ['without webhook-id', { 'webhook-id': undefined }, /^there is no webhook-id header: a proxy/],
    ['with webhook_id', { 'webhook-id': undefined, webhook_id: ID }, /but one named "webhook_id"/],
    ['with X-Webhook-Id', { 'webhook-id': undefined, 'x-webhook-id': ID }, /but one named "x-webhook-id"/],
    ['with webhookId', { 'webhook-id': undefined, webhookid: ID }, /but one named "webhookid"/],
    ['with svix-id', { 'webhook-id': undefined, 'svix-id': ID }, /but one named "svix-id"/],
    ['without a signature', { 'webhook-signature': undefined }, /no webhook-signature header/],
    ['with another version', { 'webhook-signature': 'v1a,abc' }, /no signature has the version v1/],
    ['with the signature of another sender', { 'webhook-signature': 'sha256=abc' }, /begins with "sha256=a"/],
    ['with a signature cut off', { 'webhook-signature': 'v1,abcd' }, /the signature is not whole/],
    ['with a signature in hexadecimal', { 'webhook-signature': `v1,${'ab'.repeat(32)}` }, /hexadecimal/],
    [
      'with the id of a delivery',
      { 'webhook-id': 'd', 'webhook-delivery-id': ID },
      /webhook-id is d, and 0b5f/,
    ],
    ['with an id in capitals', { 'webhook-id': ID.toUpperCase() }, /something has replaced the header/],
  ])('%s fail with a sentence of their own', (_, changed, says) => {
    expect(faults(BODY, changed)).toEqual([expect.stringMatching(says)]);
  });

  test('one of several signatures is enough', () => {
    const others = `v1,${Buffer.alloc(32).toString('base64')} ${sign(SECRET, ID, AT, BODY)} v2,abc`;
    const request = { headers: headersOf({ 'webhook-signature': others }), body: Buffer.from(BODY) };
    const { authentic, checks } = verifyRequest(request, SECRET, AT);
    expect(authentic).toBe(true);
    expect(checks[1]?.detail).toContain('one of 3 signatures');
  });

  test('a hidden secret is not compared, and a missing one fails', () => {
    expect(faults(BODY, { authorization: 'API-Key [redacted]' })).toEqual([]);
    expect(faults(BODY, { authorization: undefined })).toEqual(['there is no Authorization header']);
  });
});

describe('the timestamp', () => {
  test.each([
    ['in milliseconds', `${AT}000`, /is in milliseconds/],
    ['with a fraction', `${AT}.0`, /has a fraction/],
    ['as a date', new Date(AT * 1000).toISOString(), /was turned into a date/],
    ['as a word', 'now', /is not a number of seconds/],
  ])('%s is named by both checks', (_, timestamp, says) => {
    const expected = expect.stringMatching(says);
    expect(faults(BODY, { 'webhook-timestamp': timestamp })).toEqual([expected, expected]);
  });

  test('says how much too old it is, and how far ahead', () => {
    expect(faults(BODY, {}, SECRET, AT + 300)).toEqual([]);
    expect(faults(BODY, {}, SECRET, AT + 360)).toEqual([
      expect.stringContaining('it is 360 s old; at most 300 s are tolerated, by 60 s too old'),
    ]);
    expect(faults(BODY, {}, SECRET, AT - 400)).toEqual([expect.stringContaining('400 s in the future')]);
  });
});
