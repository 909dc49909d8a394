/**
 * The readers of `--streams`, in their own process: what they read must not hold up the process that posts the events and
 * notes when. All but a few only take the bytes, all into one piece of memory: they stand for readers on other machines,
 * and must take little from the cores that the service shares with them.
 */
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { answer } from './child.ts';
import { wallClock } from './measure.ts';

export interface ReadersOptions {
  readonly apiUrl: string;
  /** Headers that authenticate a stream: of each merchant's key, or of each session. */
  readonly credentials: readonly Readonly<Record<string, string>>[];
  readonly streams: number;
  /** Streams of which each event is read; the others only take the bytes. */
  readonly read: number;
}

const READ_BYTES = 256 * 1024;
const taken = Buffer.alloc(READ_BYTES);

let readers: (IncomingMessage | Socket)[] = [];
/** Milliseconds from the end of an attempt until its event was read from a stream. */
let lateMs: number[] = [];

answer({
  /** Opens the streams, with all credentials in turn. Those that are read note how late their attempts are. */
  async open({ apiUrl, credentials, streams, read }: ReadersOptions): Promise<void> {
    for (let at = 0; at < streams; at += 1) {
      const headers = credentials[at % credentials.length] ?? {};
      if (at >= read) {
        readers.push(await takeStream(apiUrl, headers));
        continue;
      }
      const reader = await openStream(apiUrl, headers);
      noteLateness(reader);
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

function openStream(apiUrl: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(`${apiUrl}/merchant/stream`, { headers, agent: false }, (response) => {
      response.on('error', () => {});
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`GET /merchant/stream returned ${response.statusCode}`));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Opens a stream, and takes what comes without a look at it. */
function takeStream(apiUrl: string, headers: Readonly<Record<string, string>>): Promise<Socket> {
  const { hostname, port, host } = new URL(apiUrl);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve, reject) => {
    let isOpen = false;
    const callback = (length: number): boolean => {
      if (isOpen) return true;
      isOpen = true;
      const [status] = taken.toString('latin1', 0, length).split('\r\n', 1);
      if (status?.startsWith('HTTP/1.1 200')) resolve(socket);
      else reject(new Error(`GET /merchant/stream returned ${status}`));
      return true;
    };
    const socket = connect({ host: hostname, port: Number(port), onread: { buffer: taken, callback } });
    socket.on('error', reject);
    socket.write(`GET /merchant/stream HTTP/1.1\r\n${lines.join('')}\r\n`);
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
