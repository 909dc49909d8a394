/**
 * Guarantee: the signing secret of an endpoint, which its receiver may send back in any part of an answer and in any common
 * spelling, is not in the exchange that the transport hands over, and so in no log, store or backup.
 */
import { describe, expect, test } from 'vitest';
import { newSecret } from '../../../../services/domain/secret.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { SecretMask } from '../../../../services/sender/http/masking/secret-mask.ts';
import { post } from '../../../support/receivers/posting.ts';
import { useTransports } from '../../../support/receivers/transports.ts';

/** Its base64 has every special character: `+`, `/` and the padding. */
const KEY = Buffer.from('fbffbefb12345678fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0efeeedecebeae9e8', 'hex');
const SECRET = `whsec_${KEY.toString('base64')}`;
const PART = SECRET.slice('whsec_'.length);
const CHOSEN = 'pa$$ "word" of <a> merchant & co/+=';
const mask = new SecretMask(SECRET);
const unlimited = { take: () => true };
const REMOVED = '[secret removed]';

const transports = useTransports({ totalTimeoutMs: 5000, connectTimeoutMs: 3000 });

const jsonEscaped = (text: string) =>
  text.replace(/[^a-z0-9]/gi, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
const htmlEscaped = (text: string, base: 'x' | '') =>
  text.replace(/[^a-z0-9]/gi, (c) => `&#${base}${c.charCodeAt(0).toString(base ? 16 : 10)};`);
const base64 = (text: string) => Buffer.from(text).toString('base64');

const SPELLINGS: [string, (secret: string) => string][] = [
  ['as it is', (secret) => secret],
  ['in the header', (secret) => `Authorization: API-Key ${secret}`],
  ['escaped for a URL', encodeURIComponent],
  [
    'escaped for a URL, in lower case',
    (secret) => encodeURIComponent(secret).replace(/%../g, (c) => c.toLowerCase()),
  ],
  ['escaped for a URL twice', (secret) => encodeURIComponent(encodeURIComponent(secret))],
  ['in JSON', (secret) => JSON.stringify({ authorization: `API-Key ${secret}` })],
  ['in JSON in JSON', (secret) => JSON.stringify(JSON.stringify({ authorization: `API-Key ${secret}` }))],
  ['in the JSON of PHP', (secret) => JSON.stringify(secret).replaceAll('/', '\\/')],
  ['in the JSON of .NET and Gson', jsonEscaped],
  ['in HTML, decimal', (secret) => htmlEscaped(secret, '')],
  ['in HTML, hexadecimal', (secret) => htmlEscaped(secret, 'x')],
  ['in hexadecimal', (secret) => Buffer.from(`API-Key ${secret}`).toString('hex')],
  ['in upper-case hexadecimal', (secret) => Buffer.from(`API-Key ${secret}`).toString('hex').toUpperCase()],
  ['in base64', base64],
  ['in the base64 of a text before it', (secret) => base64(`a${secret}b`)],
  ['in the base64 of a longer text', (secret) => base64(`API-Key ${secret}, and more`)],
  ['in the base64 of URLs', (secret) => Buffer.from(`ab${secret}`).toString('base64url')],
];

const ESCAPE = /%(?:25)*([0-9a-f]{2})|\\+u00([0-9a-f]{2})|&#x([0-9a-f]+);|&#(\d+);|\\+(.)/gi;
const unescaped = (text: string) =>
  text.replace(ESCAPE, (_, url?: string, json?: string, hex?: string, decimal?: string, plain = '') => {
    const code = decimal === undefined ? Number.parseInt(url ?? json ?? hex ?? '', 16) : Number(decimal);
    return Number.isNaN(code) ? plain : String.fromCharCode(code);
  });

/** Pieces of the secret, eight characters long, that can still be read from what is left after `before `. */
function leaks(masked: string, secret: string): string[] {
  const part = secret.replace(/^whsec_/, '').replace(/=+$/, '');
  const rest = masked.slice('before '.length).replace(/ after$/, '');
  const readings = [
    rest,
    unescaped(rest),
    unescaped(unescaped(rest)),
    Buffer.from(rest, 'base64').toString('latin1'),
    Buffer.from(rest, 'hex').toString('latin1'),
  ].join('\n');
  const pieces = Array.from({ length: part.length - 7 }, (_, i) => part.slice(i, i + 8));
  return pieces.filter((piece) => readings.includes(piece));
}

test.each(SPELLINGS)('the search for leaked secrets finds a secret %s', (_, spelling) => {
  expect(leaks(`before ${spelling(SECRET)} after`, SECRET)).not.toEqual([]);
  expect(leaks(`before ${spelling(CHOSEN)} after`, CHOSEN)).not.toEqual([]);
});

describe.each([
  ['a secret that hookrail made', SECRET],
  ['a secret that the merchant chose', CHOSEN],
])('%s', (_, secret) => {
  const ofSecret = new SecretMask(secret);
  test.each(SPELLINGS)('is masked %s', (_name, spelling) => {
    const text = `before ${spelling(secret)} after`;
    const masked = ofSecret.inBody(Buffer.from(text), unlimited).toString();
    expect(masked).toContain(REMOVED);
    expect(masked).toMatch(/^before .* after$/);
    expect(leaks(masked, secret)).toEqual([]);
  });

  test.each(SPELLINGS)('is masked %s, cut off anywhere', (_name, spelling) => {
    const spelt = spelling(secret);
    for (let end = 1; end < spelt.length; end += 1) {
      const masked = ofSecret.inBody(Buffer.from(`before ${spelt.slice(0, end)}`), unlimited).toString();
      expect(leaks(masked, secret)).toEqual([]);
    }
  });
});

test('the key that a secret encodes is masked', () => {
  for (const text of [KEY.toString('hex'), KEY.toString('base64url'), KEY.toString('latin1')]) {
    expect(mask.inBody(Buffer.from(`<${text}>`, 'latin1'), unlimited).toString()).toMatch(
      /^<\[secret removed\]=*>$/,
    );
  }
});

test('ordinary text is left unmasked, byte for byte', () => {
  for (const secret of [SECRET, CHOSEN, newSecret(new Uint8Array(32).fill(9))]) {
    const other = new SecretMask(secret);
    const bytes = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7) % 256));
    expect(other.inBody(bytes, unlimited)).toBe(bytes);
    expect(other.inText('Sun, 22 Nov 2026 22:17:18 GMT', unlimited)).toBe('Sun, 22 Nov 2026 22:17:18 GMT');
  }
});

describe('the secret is masked in an answer that repeats it', () => {
  async function answerTo(head: string, pieces: readonly string[]) {
    const receiver = await transports.receiver(async (socket) => {
      socket.write(head);
      for (const piece of pieces) {
        await new Promise((resolve) => socket.write(piece, resolve));
        await systemClock().sleep(5);
      }
      socket.end();
    });
    const { exchange } = await post(transports.transportOf(), {
      merchantId: 'm1',
      origin: receiver.origin,
      path: '/',
      headers: ['Authorization', `API-Key ${SECRET}`],
      body: Buffer.from('{}'),
      mask,
    });
    if (exchange.kind === 'interrupted' || !exchange.response) throw new Error('no response');
    const { headers, body, bodyTruncated } = exchange.response;
    return {
      all: JSON.stringify([exchange, headers]),
      headers,
      body: Buffer.from(body).toString(),
      bodyTruncated,
    };
  }
  const HEAD = 'HTTP/1.1 200 OK\r\n';

  test('in its status text and headers', async () => {
    const { all, headers } = await answerTo(
      `HTTP/1.1 500 ${SECRET}\r\nX-Echo: API-Key ${SECRET}\r\nX-${PART.replace(/[+/=]/g, '')}: a\r\n\r\n`,
      [],
    );
    expect(headers).toContainEqual([
      'x-echo',
      `API-Key whsec_${REMOVED}${PART.slice(PART.replace(/=+$/, '').length)}`,
    ]);
    expect(all).not.toContain(PART.slice(0, 12));
  });

  test('in its body, in several pieces', async () => {
    const { body } = await answerTo(`${HEAD}\r\n`, [
      'you said whs',
      'ec_',
      PART.slice(0, 7),
      PART.slice(7),
      '!',
    ]);
    expect(body).toMatch(/^you said whsec_\[secret removed\]=*!$/);
  });

  test.each([-60, -40, -20, -8, 0, 8])('across the end of the kept part, %i bytes from it', async (from) => {
    const filler = 'x'.repeat(16 * 1024 + from);
    const { body, bodyTruncated } = await answerTo(`${HEAD}\r\n`, [filler, `${SECRET}${'y'.repeat(5000)}`]);
    expect(bodyTruncated).toBe(true);
    expect(body.length).toBeLessThanOrEqual(16 * 1024);
    expect(body).not.toContain(PART.slice(0, 6));
  });

  test('many times, so that the cut-off part comes within the kept part', async () => {
    const { body } = await answerTo(`${HEAD}\r\n`, [SECRET.repeat(600)]);
    expect(body).not.toContain(PART.slice(0, 6));
  });

  test('in a body that ends too early', async () => {
    const { body } = await answerTo(`${HEAD}Content-Length: 500\r\n\r\n`, [`key: ${SECRET.slice(0, -9)}`]);
    expect(body).toBe(`key: whsec_${REMOVED}`);
  });
});
