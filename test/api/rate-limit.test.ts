/** Guarantee: a rate limit's window lasts a minute, however the system's time is set meanwhile. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler } from 'express';
import { afterEach, expect, it } from 'vitest';
import { limitPerMinute } from '../../services/api/rate-limit.ts';
import { RequestWindows } from '../../services/store/sqlite/management/request-windows.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const LIMIT = 3;
const HOUR_MS = 3_600_000;
let close: () => void = () => {};

afterEach(() => close());

async function startLimited(clock: SimulatedClock): Promise<(key?: string) => Promise<number>> {
  const app = express();
  app.use((request, response, next) => {
    response.locals.keyId = String(request.headers['x-key']);
    next();
  });
  app.use(
    limitPerMinute('requests', LIMIT, new RequestWindows(clock), clock),
    (_request, response) => void response.end(),
  );
  const refused: ErrorRequestHandler = (_error, _request, response, _next) => void response.status(429).end();
  app.use(refused);
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = () => server.close();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async (key = 'one') => (await fetch(url, { headers: { 'x-key': key } })).status;
}

it.each([-HOUR_MS, HOUR_MS])(
  'a key at its rate limit waits for a minute although the system’s time is set by %d ms',
  async (step) => {
    const clock = new SimulatedClock(Date.now());
    const ask = await startLimited(clock);
    for (let i = 0; i < LIMIT; i += 1) expect(await ask()).toBe(200);
    clock.setBy = step;
    expect(await ask()).toBe(429);
    clock.advance(59_000);
    expect(await ask()).toBe(429);
    expect(await ask('another')).toBe(200);
    clock.advance(1_000);
    for (let i = 0; i < LIMIT; i += 1) expect(await ask()).toBe(200);
    expect(await ask()).toBe(429);
  },
);
