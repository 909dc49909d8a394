/** The parts of `sim listen` that need no service: addresses, summaries of bodies, commands for a shell. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { curlOf } from '../../../client/curl.ts';
import { parseForwardTarget } from '../../../simulator/listen/forward-target.ts';
import { signedHeaders } from '../../../simulator/listen/signed-headers.ts';
import { prettyBody } from '../../../simulator/receiver/arrival-lines.ts';
import { firstWords, summarise } from '../../../simulator/receiver/body-summary.ts';
import { verifyRequest } from '../../../simulator/receiver/verification.ts';
import { Footer } from '../../../simulator/terminal/footer.ts';

describe('the address to forward to', () => {
  test.each([
    ['3000', undefined, 'http://localhost:3000/'],
    [':3000/hook', undefined, 'http://localhost:3000/hook'],
    ['3000/hook?a=1', undefined, 'http://localhost:3000/hook?a=1'],
    ['localhost:3000/hook', undefined, 'http://localhost:3000/hook'],
    ['HTTP://LocalHost:3000/Hook#x', undefined, 'http://localhost:3000/Hook'],
    ['https://app.test/hook', undefined, 'https://app.test/hook'],
    ['[::1]:3000', '/hook', 'http://[::1]:3000/hook'],
    ['3000', 'hook', 'http://localhost:3000/hook'],
  ])('may be %s', (text, path, url) => {
    expect(parseForwardTarget(text, path).url.href).toBe(url);
  });

  test.each([
    ['', undefined, 'is not an address'],
    ['http://', undefined, 'is not an address'],
    ['ftp://localhost', undefined, 'takes http or https, not ftp'],
    ['http://me:secret@localhost', undefined, 'has a user name or a password'],
    ['3000/hook', '/other', 'cannot be combined'],
  ])('may not be "%s"', (text, path, says) => {
    expect(() => parseForwardTarget(text, path)).toThrow(says);
  });
});

describe('a body in a line', () => {
  const body = (value: unknown) => Buffer.from(JSON.stringify(value));

  test('has money, chain and transaction', () => {
    const data = {
      transactionUuid: '55561af3-a23f-5ea5-9333-c07cec0e2abc',
      amountFiat: 250,
      currencyFiat: 'EUR',
      amountCrypto: 266.09,
      currencyCrypto: 'USDC',
      chain: 'polygon',
    };
    expect(summarise(body({ type: 'fiatToCrypto', subType: 'SUCCESS', data }))).toMatchObject({
      title: 'fiatToCrypto/SUCCESS',
      text: 'EUR 250 → USDC 266.09 polygon  tx 55561af3',
    });
    expect(summarise(body({ type: 'cryptoToFiat', subType: 'SUCCESS', data })).text).toMatch(
      /^USDC 266.09 → EUR 250 polygon/,
    );
  });

  test('has what the subType does not say, and nothing that a terminal obeys', () => {
    const data = { status: 'ON_HOLD_KYC', error: 'a\u001b[2Jb' };
    expect(
      summarise(body({ type: 'fiatToCrypto', subType: 'ON_HOLD', uuid: 'e9dec870-a9b8', data })).text,
    ).toBe('ON_HOLD_KYC  a\\u001b[2Jb  e9dec870');
  });

  test.each(['', 'null', '[]', '7', '{"type":7}', '\u0000'])('may be no webhook: %j', (text) => {
    expect(summarise(Buffer.from(text)).title).toMatch(/^\d+ bytes that are not a webhook body$/);
  });

  test.each([
    ['no such user\nat x', 'text/plain', 'no such user'],
    ['{"error":{"message":"no such user"}}', 'application/json', 'no such user'],
    ['{"a":1}', 'application/json', '{"a":1}'],
    ['<!DOCTYPE html><title>x</title><body><p>A &lt;b&gt;</p>', '', 'x A <b>'],
    ['', '', ''],
  ])('the first words of %j', (text, type, words) => {
    expect(firstWords(Buffer.from(text), type).replace(/ +/g, ' ')).toBe(words);
  });

  test('keeps every digit when its lines are broken', () => {
    const text = '{"a":[1.10,12345678901234567890],"b":{},"c":"x: {,}","d":[]}';
    expect(prettyBody(Buffer.from(text)).replace(/\n */g, '').replaceAll(': ', ':')).toBe(
      text.replace('x: ', 'x:'),
    );
    expect(prettyBody(Buffer.from(text)).split('\n')).toHaveLength(9);
  });
});

test('a curl command gives a shell the headers and the body as they are, and they verify', () => {
  const body = `{"it's":"$HOME \`x\` \\n"}`;
  const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
  const now = 1_700_000_000;
  const headers = signedHeaders({ secret, id: 'evt-1', timestampSeconds: now, body });
  const curl = curlOf('http://localhost:1/hook', headers, body);
  const printed = execFileSync('sh', [
    '-c',
    `curl() { for word; do printf '%s\\0' "$word"; done; }; ${curl}`,
  ]);
  const words = printed.toString().split('\0');
  expect(words[0]).toBe('http://localhost:1/hook');
  expect(words[words.indexOf('--data-raw') + 1]).toBe(body);
  expect(verifyRequest({ headers, body: Buffer.from(body) }, secret, now).authentic).toBe(true);
});

test('the foot of a terminal is erased before other text and drawn again after it', () => {
  let written = '';
  const sink = { isTTY: true, columns: 20, write: (text: string) => (written += text) };
  const footer = new Footer(sink, sink);
  footer.stdout.write('one\n');
  footer.show((width) => ['state', 'k'.repeat(width)]);
  footer.stderr.write('two\n');
  footer.hide();
  footer.stdout.write('three\n');
  const erased = '\r\u001b[2K\u001b[1A\r\u001b[2K';
  const foot = `state\n${'k'.repeat(19)}`;
  expect(written).toBe(`one\n${foot}${erased}two\n${foot}${erased}three\n`);
});
