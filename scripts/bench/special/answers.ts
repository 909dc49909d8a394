/**
 * Receivers whose response has a fault after its status line, or never ends. The status decides, so a delivery to them
 * must go as to an ordinary one: at the first attempt, about as fast, and without a parked task. Each row follows two
 * ordinary receivers in the same run: one that keeps the connection, and one that closes it after each response. A
 * response that cannot be read to its end costs its connection, so the second is the bound.
 */

import { since } from '../counts.ts';
import { arrived, type RunOptions, withService } from '../engine.ts';
import { makeEvents, serialise } from '../load.ts';
import { type Latency, latencyOf } from '../measure.ts';
import { type Parked, parkedLater, parkedSoon } from '../parked.ts';
import { nameOf } from '../report/names.ts';

export interface AnswersResult {
  readonly engine: string;
  readonly brokers: number;
  readonly rows: readonly AnswersRow[];
}

export interface AnswersRow {
  readonly what: string;
  readonly keeping: Latency;
  readonly closing: Latency;
  readonly latency: Latency;
  /** Requests beyond one for each delivery. */
  readonly repeated: number;
  readonly parked: Parked;
}

const OK = 'HTTP/1.1 200 OK\r\n';
const ORDINARY = `${OK}Content-Length: 0\r\n\r\n`;
const CLOSING = `${OK}Connection: close\r\nContent-Length: 0\r\n\r\n`;

const ANSWERS: Readonly<Record<string, string>> = {
  'interim responses before it': `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ORDINARY}`,
  'Content-Length twice': `${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`,
  '40 cookies': `${OK}${`Set-Cookie: a=${'x'.repeat(480)}\r\n`.repeat(40)}Content-Length: 0\r\n\r\n`,
  'a malformed header line': `${OK}no header line\r\nContent-Length: 0\r\n\r\n`,
  'a malformed chunk': `${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  'a head that does not end': `${OK}X-A: b\r\n`,
  'a body that does not end': `${OK}Content-Length: 5\r\n\r\nab`,
  'a body of unknown length': `${OK}\r\nab`,
};

export function measureAnswers(
  options: RunOptions & { readonly eventsPerSecond: number; readonly seconds: number },
): Promise<AnswersResult> {
  const { engine, receiver, eventsPerSecond, seconds } = options;
  return withService(options, 1, async (service, producer) => {
    const measure = async (name: string, response: string, forSeconds: number) => {
      const count = eventsPerSecond * forSeconds;
      const posts = serialise(makeEvents(service.merchantIds, count, name), 1);
      await receiver.reset({ record: true, response });
      const parkedBefore = await service.parkedTasks();
      const [posted] = await Promise.all([
        producer.publishAt(eventsPerSecond, posts),
        arrived(service, receiver, count),
      ]);
      const arrivals = await receiver.recorded();
      const parked = since(parkedBefore, await service.parkedTasks());
      return { latency: latencyOf(posted, arrivals), repeated: arrivals.length - count, parked };
    };
    const rows: AnswersRow[] = [];
    for (const [what, response] of Object.entries(ANSWERS)) {
      const { latency: keeping } = await measure(`keeping before ${what}`, ORDINARY, seconds / 2);
      const { latency: closing } = await measure(`closing before ${what}`, CLOSING, seconds / 2);
      rows.push({ what, keeping, closing, ...(await measure(what, response, seconds)) });
    }
    await receiver.reset({ record: false });
    return { engine: engine.name, brokers: engine.brokerPids().length, rows };
  });
}

export function answersText({ engine, brokers, rows }: AnswersResult): string {
  return [
    `${nameOf(engine, brokers)}: receivers whose response has a fault after its status line`,
    ...rows.map(
      ({ what, keeping, closing, latency, repeated, parked }) =>
        `  ${what}: p50 ${latency.p50Ms.toFixed(1)} ms, p99 ${latency.p99Ms.toFixed(1)} ms, ` +
        `${(latency.p99Ms / keeping.p99Ms).toFixed(2)} times that of a receiver that keeps connections, ` +
        `${(latency.p99Ms / closing.p99Ms).toFixed(2)} times that of one that closes them; ${repeated} repeated, ` +
        `${parkedSoon(parked) + parkedLater(parked)} parked`,
    ),
  ].join('\n');
}
