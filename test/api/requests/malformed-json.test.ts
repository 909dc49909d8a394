/** A body that is not JSON is answered with the place of its fault: line, column, byte and the value around it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { malformedJson } from '../../../services/api/reading/malformed-json.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const publish = (raw: string | Buffer) =>
  api.call('POST', '/producer/events', { raw, key: api.keys.producer });

const CASES: readonly [
  title: string,
  raw: string,
  position: readonly [line: number, column: number, byteOffset: number, pointer: string],
  detail: string,
][] = [
  ['only white space', ' \r\n ', [2, 2, 4, ''], 'a value is expected, but the body ends'],
  ['a byte order mark before the fault', '\ufeff{"a":x}', [1, 6, 8, '/a'], 'a value is expected'],
  ['a comma before the end of an object', '{"a":1,\n}', [2, 1, 8, ''], 'is expected after the comma'],
  ['a comma before the end of an array', '[1,]', [1, 4, 3, '/1'], 'is expected after the comma'],
  [
    'a string that is cut off',
    '{"a":"bc',
    [1, 9, 8, '/a'],
    'a double quote that ends the string is expected',
  ],
  ['a string with a line break', '{"a":"b\nc"}', [1, 8, 7, '/a'], 'the control character as an escape'],
  ['a string with U+0000', '{"a":"b\u0000"}', [1, 8, 7, '/a'], 'the control character as an escape'],
  ['an escape that JSON does not have', '["\\x"]', [1, 3, 2, '/0'], 'an escape of JSON'],
  ['characters of several bytes before it', '{"é😀":"€",b}', [1, 11, 16, ''], 'a name in double quotes'],
  ['single quotes', "{'a':1}", [1, 2, 1, ''], 'a name in double quotes or "}" is expected'],
  ['no colon', '{"a" 1}', [1, 6, 5, '/a'], 'a colon is expected'],
  ['a number that begins with 0', '{"a":01}', [1, 7, 6, '/a'], 'a comma or the end'],
  ['two documents', '{} {}', [1, 4, 3, ''], 'nothing more is expected'],
  ['an event of a batch', '[{"type":"KYC"},\n{"header":{"a":}}]', [2, 16, 32, '/1/header/a'], 'a value is'],
];

test.each(CASES)(
  'of %s is told by its place',
  async (_title, raw, [line, column, byteOffset, pointer], detail) => {
    const { status, body } = await publish(raw);
    expect([status, body.code]).toEqual([400, 'malformed_json']);
    expect(body.position).toEqual({ line, column, byte_offset: byteOffset, pointer });
    expect(body.detail).toContain(`line ${line}, column ${column}: `);
    expect(body.detail).toContain(`(byte ${byteOffset}`);
    expect(body.detail).toContain(detail);
  },
);

test.each(['', '\ufeff'])('of an empty body %j is told as a body that is missing', async (raw) => {
  const { body } = await publish(raw);
  expect([body.code, body.errors]).toEqual([
    'validation_error',
    [{ pointer: '', code: 'required', detail: 'a JSON body is required' }],
  ]);
});

test('of bytes that are not UTF-8 is told by the place of the first of them', async () => {
  const raw = Buffer.concat([Buffer.from('{"é":"\ufffd",\n"'), Buffer.from([0xc3, 0x28])]);
  const { body } = await publish(raw);
  expect([body.code, body.detail]).toEqual([
    'malformed_json',
    'The body is not UTF-8: line 2, column 2 (byte 14). Send one JSON value in UTF-8.',
  ]);
  expect(body.position).toEqual({ line: 2, column: 2, byte_offset: 14 });
});

test('of a body that nests very deep is told shortly, and in no time', async () => {
  const { body } = await publish('['.repeat(500_000));
  expect(body.position).toMatchObject({ line: 1, column: 500_001, byte_offset: 500_000 });
  expect(JSON.stringify(body).length).toBeLessThan(1000);
});

/** Every cut of a document, and every document with one character too many, is malformed for both readers or for none. */
test('is found wherever JSON.parse refuses a text', () => {
  const text = '{"a":[1,-2.5e3,true,null,"x\\u00e9\\n"],"b":{"":{}},"c":"é"}';
  const marks = ['', ',', '"', '}', ']', '\\', '\n', '0', ':', 'é'];
  for (let at = 0; at < text.length; at += 1) {
    for (const mark of marks) {
      for (const tried of [text.slice(0, at) + mark, text.slice(0, at) + mark + text.slice(at)]) {
        if (isJson(tried)) continue;
        expect(malformedJson(Buffer.from(tried)).extra, tried).toHaveProperty('position');
      }
    }
  }
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
