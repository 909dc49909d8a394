/**
 * Guarantee: streams stop nobody's requests. Of 1,024 that are asked for through one address it gets half of its share of
 * connections, and the API behind it answers; a trusted proxy gets all of them, and the API behind it answers, too.
 */
import { request } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { besides, toolAnswer } from '../support/service/operator-tool.ts';
import { openStream, type StreamReader } from '../support/service/stream-client.ts';
import { prepareSetup, type Service, startService } from '../support/service/system.ts';

const ADDRESS = '127.0.0.2';
const STREAMS = 1024;
/** A quarter of 4,096 connections is an address's, half of that for streams. */
const SHARE = 512;
const AT_ONCE = 64;
const TIMEOUT_MS = 240_000;

let service: Service | undefined;
let readers: StreamReader[] = [];
afterEach(async () => {
  for (const reader of readers) reader.close();
  readers = [];
  await service?.end('SIGKILL');
});

/** Opens streams with two keys from one address; returns how many got each status. */
async function openAll(proxies: string) {
  const setup = await prepareSetup({
    HOOKRAIL_STREAMS_PER_KEY: '1000',
    HOOKRAIL_TRUSTED_PROXIES: proxies,
  });
  const running = await startService(setup.environment);
  service = running;
  const tool = besides(setup.environment, running);
  const { key } = await toolAnswer(tool, 'keys', 'create', '--merchant', setup.merchantId);
  for (let n = 0; n < STREAMS; n += AT_ONCE) {
    const some = Array.from({ length: AT_ONCE }, (_, each) =>
      openStream(running.apiUrl, each % 2 ? key : setup.apiKey, { localAddress: ADDRESS }),
    );
    readers.push(...(await Promise.all(some)));
  }
  const count = (status: number) => readers.filter((reader) => reader.status === status).length;
  return { running, setup, open: count(200), refused: count(429) };
}

/** Asks the API from an address, on connections of their own, and returns the statuses. */
function ask(url: string, key: string, localAddress: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `API-Key ${key}`, connection: 'close' };
    const sent = request(`${url}/merchant`, { headers, localAddress, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject).end();
  });
}

it.each<[string, string, number, number]>([
  ['an address has half of its share', '', SHARE, STREAMS - SHARE],
  ['a trusted proxy has all of them', '127.0.0.2,10.0.0.0/8', STREAMS, 0],
])('%s, and requests beside the streams are answered', { timeout: TIMEOUT_MS }, async (...row) => {
  const [, proxies, expectedOpen, expectedRefused] = row;
  const { running, setup, open, refused } = await openAll(proxies);
  expect([open, refused]).toEqual([expectedOpen, expectedRefused]);
  for (const address of [ADDRESS, ADDRESS, '127.0.0.1']) {
    const asked = Array.from({ length: 20 }, () => ask(running.apiUrl, setup.apiKey, address));
    expect(await Promise.all(asked)).toEqual(Array(20).fill(200));
  }
  const metrics = await (await fetch(`${running.operationsUrl}/metrics`)).text();
  expect(metrics).toContain(`hookrail_api_streams ${expectedOpen}\n`);
});
