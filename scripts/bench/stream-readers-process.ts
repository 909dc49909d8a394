/**
 * The readers of `--streams`, in their own process: what they read must not hold up the process that posts the events and
 * notes when.
 */
import { type IncomingMessage, request } from 'node:http';
import { answer } from './child.ts';
import { wallClock } from './measure.ts';

export interface ReadersOptions {
  readonly apiUrl: string;
  readonly apiKeys: readonly string[];
  readonly streams: number;
}

let readers: IncomingMessage[] = [];
/** Milliseconds from the end of an attempt until its event was read from a stream. */
let lateMs: number[] = [];

answer({
  /** Opens the streams, for all merchants in turn. The first stream of each notes how late its attempts are. */
  async open({ apiUrl, apiKeys, streams }: ReadersOptions): Promise<void> {
    for (let at = 0; at < streams; at += 1) {
      const reader = await openStream(apiUrl, apiKeys[at % apiKeys.length] ?? '');
      if (at < apiKeys.length) noteLateness(reader);
      else reader.resume();
      readers.push(reader);
    }
  },
  /** Closes them, and returns how late the attempts were. */
  close(): number[] {
    for (const reader of readers) reader.destroy();
    const late = lateMs;
    readers = [];
    lateMs = [];
    return late;
  },
});

function openStream(apiUrl: string, apiKey: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `API-Key ${apiKey}` };
    const sent = request(`${apiUrl}/merchant/stream`, { headers, agent: false }, (response) => {
      response.on('error', () => {});
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`GET /merchant/stream returned ${response.statusCode}`));
    });
    sent.on('error', reject);
    sent.end();
  });
}

function noteLateness(reader: IncomingMessage): void {
  let rest = '';
  reader.setEncoding('utf8').on('data', (text: string) => {
    const now = wallClock();
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, data] = /^event: attempt\ndata: (.*)$/m.exec(block) ?? [];
      if (data === undefined) continue;
      const { started_at: startedAt, duration_ms: durationMs } = JSON.parse(data);
      lateMs.push(now - (Date.parse(startedAt) + durationMs));
    }
  });
}
