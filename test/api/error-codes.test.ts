/**
 * Every error code of the API is expected by a test in this folder or in `test/contract/api`, and an unexpected error has one code of its own.
 */
import { readdirSync, readFileSync } from 'node:fs';
import express from 'express';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../services/api/error-codes.ts';
import { problemHandler } from '../../services/api/problem.ts';

const FOLDERS = ['./', '../contract/api/'].map((path) => new URL(path, import.meta.url));
const text = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name !== 'openapi.test.ts')
    .map((name) => readFileSync(new URL(name, folder), 'utf8')),
).join('\n');

test.each(Object.keys(ERROR_CODES))('the error code %s is expected by a test', (code) => {
  expect(text).toMatch(new RegExp(`['\\s]${code}'`));
});

test('an unexpected error is answered as internal_error, and its cause is only in the log', async () => {
  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(line) });
  const app = express();
  app.use((_request, response) => {
    response.locals.requestId = crypto.randomUUID();
    throw new TypeError('a message may quote the request,\nalso in a line of its own: whsec_canary');
  });
  app.use(problemHandler(log));
  const server = app.listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    const body = (await answer.json()) as Record<string, unknown>;
    expect([answer.status, answer.headers.get('content-type')]).toEqual([500, 'application/problem+json']);
    expect(body).toMatchObject({ code: 'internal_error', status: 500, request_id: expect.any(String) });
    const [line] = logged.map((each) => JSON.parse(each));
    expect(line).toMatchObject({ event: 'request_failed', error: 'TypeError', request_id: body.request_id });
    expect(line.stack).toContain('error-codes.test.ts');
    expect(JSON.stringify(body) + logged.join('')).not.toContain('whsec_canary');
  } finally {
    server.close();
  }
});
