/** Headers are read from what the usual tools print. */
import { expect, test } from 'vitest';
import { curlOf } from '../../../client/curl.ts';
import { readCaptured } from '../../../services/domain/verification/captured-text.ts';

const HEADERS = { 'webhook-id': 'a-1', 'webhook-signature': "v1,a+/b' =" };
const SIGNATURE = HEADERS['webhook-signature'];

test.each<readonly [string, string]>([
  ['lines', `Webhook-Id: a-1\r\nwebhook-signature: ${SIGNATURE}\r\n`],
  ['lines with empty lines between', `Webhook-Id: a-1\n\nwebhook-signature: ${SIGNATURE}\n`],
  [
    'curl -v',
    `* Connected\n> POST / HTTP/1.1\n> Webhook-Id: a-1\n> webhook-signature: ${SIGNATURE}\n>\n< webhook-id: no\n`,
  ],
  ['JSON', JSON.stringify(HEADERS, null, 2)],
  ['JSON with lists', JSON.stringify({ 'Webhook-Id': ['a-1'], 'webhook-signature': [SIGNATURE] })],
  ['rawHeaders of Node, as JSON', JSON.stringify(Object.entries(HEADERS).flat())],
  ['console.log of Node', `{\n  'webhook-id': 'a-1',\n  'webhook-signature': "${SIGNATURE}"\n}`],
  ['rawHeaders of Node', `[ 'Webhook-Id', 'a-1', 'Webhook-Signature', "${SIGNATURE}" ]`],
  ['a dict of Python', `{'HTTP_WEBHOOK_ID': 'a-1', 'HTTP_WEBHOOK_SIGNATURE': "${SIGNATURE}"}`],
  ['pairs of Python', `[('Webhook-Id', 'a-1'), ('Webhook-Signature', "${SIGNATURE}")]`],
  ['a hash of Ruby', `{"HTTP_WEBHOOK_ID"=>"a-1", "HTTP_WEBHOOK_SIGNATURE"=>"${SIGNATURE}"}`],
  ['Go %v', `map[Webhook-Id:[a-1] Webhook-Signature:[${SIGNATURE}]]`],
  ['Go %#v', `http.Header{"Webhook-Id":[]string{"a-1"}, "Webhook-Signature":[]string{"${SIGNATURE}"}}`],
  [
    'PHP var_export',
    `array (\n  'HTTP_WEBHOOK_ID' => 'a-1',\n  'HTTP_WEBHOOK_SIGNATURE' => 'v1,a+/b\\' =',\n)`,
  ],
  ['variables of nginx', `$http_webhook_id: a-1\n$http_webhook_signature: ${SIGNATURE}`],
])('headers are read from %s', (_, text) => {
  expect(readCaptured(text)).toEqual({ headers: HEADERS });
});

test('a curl command has headers and body', () => {
  const body = `{"a":"it's \\" $x"}\n`;
  expect(readCaptured(curlOf('https://a.example/', HEADERS, body))).toEqual({ headers: HEADERS, body });
  const chrome = `curl "https://a.example" --header "webhook-id: a-1" -d $'{"a":"\\'\\u00e9"}'`;
  expect(readCaptured(chrome)).toEqual({ headers: { 'webhook-id': 'a-1' }, body: `{"a":"'é"}` });
});

test('a whole request has a body after the empty line, byte for byte', () => {
  const text = 'POST /hook HTTP/1.1\r\nWebhook-Id: a-1\r\n\r\n{"a":\n\n1}\n';
  expect(readCaptured(text)).toEqual({ headers: { 'webhook-id': 'a-1' }, body: '{"a":\n\n1}\n' });
});

test.each(['', 'nothing here', '{', '[]', '"', 'null', '{}', 'curl'])('%j has no headers', (text) => {
  expect(readCaptured(text).headers).toEqual({});
});
