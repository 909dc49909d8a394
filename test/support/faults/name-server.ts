import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';

const TYPES: Readonly<Record<number, string>> = { 1: 'A', 2: 'NS', 28: 'AAAA' };
const CODES = { servfail: 2, nxdomain: 3, notimp: 4, refused: 5 } as const;

/** The reply of a name server: addresses (none: the name has no such record), a code, or nothing at all. */
export type Said = readonly string[] | keyof typeof CODES | null;

export interface NameServer {
  /** `address:port`, for the list of name servers. */
  readonly at: string;
  readonly port: number;
  /** The questions it was asked, as `TYPE name`; the root is `NS .`. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** A DNS server on UDP. `say` gets the name without its last dot and the type of the records. Rejects when the port is taken. */
export async function startNameServer(
  say: (name: string, type: string) => Said | Promise<Said>,
  port = 0,
  address = '127.0.0.1',
): Promise<NameServer> {
  const asked: string[] = [];
  const server = createSocket('udp4', async (question, from) => {
    const { name, type, end } = questionIn(question);
    asked.push(`${type} ${name || '.'}`);
    const said = await say(name, type);
    if (said !== null && isOpen)
      server.send(answerTo(question.subarray(0, end), said), from.port, from.address);
  });
  let isOpen = true;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).bind(port, address, resolve);
  });
  const bound = server.address().port;
  const close = () =>
    new Promise<void>((resolve) => {
      if (!isOpen) return resolve();
      isOpen = false;
      server.close(() => resolve());
    });
  return { at: `${address}:${bound}`, port: bound, asked, close };
}

/** RFC 1035, section 4.1: after a header of 12 bytes, labels with their lengths, ended by a zero; type and class. */
function questionIn(question: Buffer): { name: string; type: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = question.readUInt8(at); length > 0; length = question.readUInt8(at)) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = question.readUInt16BE(at + 1);
  return { name: labels.join('.'), type: TYPES[type] ?? `${type}`, end: at + 5 };
}

function answerTo(question: Buffer, said: Exclude<Said, null>): Buffer {
  const head = Buffer.from(question);
  head.fill(0, 6, 12);
  head.writeUInt16BE(0x8180 | (typeof said === 'string' ? CODES[said] : 0), 2);
  if (typeof said === 'string') return head;
  head.writeUInt16BE(said.length, 6);
  return Buffer.concat([head, ...said.map(recordOf)]);
}

/** The name is a pointer to the question's; the record lives for a minute. */
function recordOf(address: string): Buffer {
  const bytes = Buffer.from(isIPv4(address) ? address.split('.').map(Number) : bytesOf6(address));
  const head = Buffer.from([0xc0, 12, 0, isIPv4(address) ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, bytes.length]);
  return Buffer.concat([head, bytes]);
}

/** An IPv6 address with `::` somewhere. */
function bytesOf6(address: string): number[] {
  const [before = [], after = []] = address.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}
