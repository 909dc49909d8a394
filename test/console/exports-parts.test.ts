/** Files that the console saves: hostile texts in them stay text, for spreadsheets, terminals and Markdown. */
import fc from 'fast-check';
import { marked } from 'marked';
import { describe, expect, test } from 'vitest';
import type { DeliveryDetail, Endpoint } from '../../console/api/shapes.ts';
import { csvOf, defused } from '../../console/exports/csv.ts';
import { fileNameOf, stampOf } from '../../console/exports/file-name.ts';
import { ticketOf } from '../../console/exports/ticket.ts';
import { parsedCsv } from './support/parsed-csv.ts';

const cellsOf = (text: string, separator = ',') =>
  parsedCsv(csvOf([['first', text, 'last']]), separator)[0] ?? [];

describe('a cell of a CSV', () => {
  const begins = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\n=1',
    ' =1',
    '\u00a0=1',
    '\u3000=1',
    '\u200b=1',
  ];
  const wide = [
    '\uff1d1',
    '\uff0b1',
    '\uff0d1',
    '\uff201',
    '\ufe661',
    '\ufe621',
    '\u22121',
    '\ufeff=1',
    '\u0000=1',
  ];
  test.each([...begins, ...wide, '"=1"', `=cmd|' /C calc'!A0`].map((text) => ({ text })))(
    'is no formula: $text',
    ({ text }) => {
      const [, cell = ''] = cellsOf(text);
      expect(cell.replace(/^[\s"]+/u, '')).toMatch(/^['\\]/);
    },
  );

  test.each(['a;=1', 'a; "=1', 'x\t=1', 'x\r\n=1', '; \uff1d1'])(
    'is no formula where a spreadsheet parts cells otherwise: %j',
    (text) => {
      for (const separator of [';', '\t', '\n']) {
        for (const cell of cellsOf(text, separator)) expect(cell).not.toMatch(/^[\s"]*[=+\-@\uff1d]/u);
      }
    },
  );

  test.each(['shop', 'a=b', 'On-ramp, KYC', 'https://a.example/?x=1&y=-2', 'Łódź 東京', ''])(
    'that is harmless is kept as it is: %j',
    (text) => {
      expect(cellsOf(text)).toEqual(['first', text, 'last']);
    },
  );

  test('is defused before control characters too', () => {
    for (const text of ['\ttext', '\rtext', '\ntext']) expect(defused(text)).toBe(`'${text}`);
  });

  test('is one cell of one line whatever it has in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('=', '+', '-', '@', ''), (text, sign) => {
        const rows = parsedCsv(csvOf([[sign + text, 1, null], ['next']]), ',');
        expect(rows.map((row) => row.length)).toEqual([3, 1]);
        expect(rows[0]?.[0]).not.toMatch(/^[\s"]*[=+\-@]/u);
      }),
    );
  });
});

test('a CSV has a byte order mark and lines that end as RFC 4180 says', () => {
  expect(
    csvOf([
      ['a', 1, null],
      ['say "hi"', 'x,y', ''],
    ]),
  ).toBe('\ufeffa,1,\r\n"say ""hi""","x,y",\r\n');
});

test('a file name has no character that a file system or a shell obeys', () => {
  const name = fileNameOf(['../Ac"me; rm -rf', '', 'live', stampOf('2026-01-02T03:04:05.678Z')], 'csv');
  expect(name).toBe('ac-me-rm-rf_live_20260102t030405z.csv');
});

const HOSTILE = '```\n# forged\n<img src=x onerror=alert(1)>\n\u001b[2J\u202egnp ````';
const attempt = {
  ...{
    number: 1,
    trigger: 'live',
    started_at: '2026-01-02T03:04:05.678Z',
    duration_ms: 4,
    next_attempt_at: null,
  },
  request_headers: { 'webhook-id': 'id', Authorization: 'API-Key whsec_secret', host: 'a.example' },
  ...{ response_status: 500, response_headers: { 'x-note': HOSTILE }, response_body: HOSTILE },
  ...{ response_body_truncated: false, failure_code: 'http_5xx', failure_detail: HOSTILE },
};
const delivery = {
  ...{ delivery_uuid: 'd', type: 'KYC', subType: 'FULL_USER', status: 'failed', transaction_uuid: null },
  ...{ body: `{"a":"${HOSTILE}"}`, body_removed: false, attempts: [attempt] },
} as unknown as DeliveryDetail;
const endpoint = { url: `https://a.example/${HOSTILE}` } as Endpoint;
const ticket = (change: object = {}) =>
  ticketOf({ delivery, endpoint, explanation: 'It failed.', savedAt: '2026-01-02T04:00:00.000Z', ...change });

describe('a file for a ticket', () => {
  test('has what was sent and answered, with the reason, and without the secret', () => {
    const text = ticket();
    for (const part of [
      'It failed.',
      'webhook-id: id',
      'HTTP 500 after 4 ms',
      "curl 'https://a.example/",
      'HMAC-SHA256',
    ])
      expect(text).toContain(part);
    expect(text).not.toMatch(/whsec|authorization/i);
  });

  test('has nothing of strangers that a terminal obeys, or that Markdown shows as markup', async () => {
    for (const character of ['\u001b', '\u202e']) expect(ticket()).not.toContain(character);
    const html = await marked.parse(ticket());
    expect(html).not.toContain('<img');
    expect(html).not.toContain('forged</h1>');
    expect(html.match(/<h1/g)?.length).toBe(1);
  });

  test('says what is not there', () => {
    const silent = { ...attempt, response_status: null, response_headers: null, response_body: null };
    const removed = { ...delivery, body: null, body_removed: true, attempts: [silent] };
    const text = ticket({ delivery: removed, endpoint: undefined });
    expect(text).toContain('The body is no longer kept.');
    expect(text).toContain('the endpoint was deleted');
    expect(text).toContain('No response.');
    expect(ticket({ delivery: { ...delivery, attempts: [] } })).toContain('None yet.');
    expect(text).not.toContain('curl');
  });
});
