import { RESPONSE_BODY_KEPT_BYTES, type ResponseKept } from '../../domain/attempt.ts';
import { asUtf8 } from './masking/charsets.ts';
import { codingOf, decompressed } from './masking/compressed.ts';
import { MASKED_BYTES_MAX, type SecretMask } from './masking/secret-mask.ts';
import type { SearchAllowance } from './masking/secret-search.ts';

/** The secret is searched for in this much of a body: more than is kept, to find one that spans the cut. */
const BODY_MASKED_BYTES = RESPONSE_BODY_KEPT_BYTES + MASKED_BYTES_MAX;
/** At most this much of the response's headers is kept for the log. */
const HEADERS_KEPT_BYTES_MAX = 8 * 1024;
/** Replaces a body whose content coding is unknown or not followed: the secret cannot be searched for in it. */
const NOT_DECOMPRESSED = '[not kept: its Content-Encoding cannot be undone]';
/** Replaces a body whose charset is unknown: the secret cannot be searched for in it. */
const NOT_DECODED = '[not kept: its charset is unknown]';
/** A longer Content-Type is read as far as this. */
const CONTENT_TYPE_MAX = 512;
/** The search of fewer bytes takes no time that anyone notices. */
const SHORT_BYTES_MAX = 2048;
/** The cost of decompressing a body, in bytes read. */
const DECOMPRESSING_COST = 16 * 1024;

/** Collects what the log keeps of a response, without the endpoint's secret. */
export class ResponseLog {
  readonly status: number;
  readonly #mask: SecretMask | null;
  readonly #allowance: SearchAllowance;
  /** With the secret, if it is in them. */
  readonly #headers: [string, string][] = [];
  #headerBytes = 0;
  #contentEncoding = '';
  #contentType = '';
  #chunks: Buffer[] | null = null;
  #bodyBytes = 0;
  /** Retry-After in seconds, when the receiver sent one as a number. */
  retryAfterSeconds: number | null = null;

  /** `mask`: null where there is no secret to remove. */
  constructor(status: number, mask: SecretMask | null, allowance: SearchAllowance) {
    this.status = status;
    this.#mask = mask;
    this.#allowance = allowance;
  }

  /** Bytes of the body received so far, including those that are not kept. */
  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** Takes names and values in turn. */
  addHeaders(raw: readonly (Buffer | string)[]): void {
    let room = HEADERS_KEPT_BYTES_MAX;
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const name = textOf(raw[i]).toLowerCase();
      const value = textOf(raw[i + 1]);
      if (name === 'retry-after' && /^\d{1,9}$/.test(value)) this.retryAfterSeconds = Number(value);
      if (name === 'content-encoding') this.#contentEncoding += `,${value}`;
      if (name === 'content-type') this.#contentType ||= value.slice(0, CONTENT_TYPE_MAX);
      room -= name.length + value.length;
      if (room < 0) continue;
      this.#headers.push([name, value]);
      this.#headerBytes = HEADERS_KEPT_BYTES_MAX - room;
    }
  }

  /** Whether the search for the secret may take a while. */
  get isLong(): boolean {
    const isCompressed = this.#contentEncoding !== '';
    return this.#mask !== null && (isCompressed || this.#headerBytes + this.#bodyBytes > SHORT_BYTES_MAX);
  }

  addBody(bytes: Buffer): void {
    const room = BODY_MASKED_BYTES - this.#bodyBytes;
    this.#bodyBytes += bytes.length;
    if (room <= 0) return;
    // A copy: the bytes are a window into the socket's buffer, which the log must not keep alive.
    const kept = Buffer.from(bytes.subarray(0, room));
    if (this.#chunks) this.#chunks.push(kept);
    else this.#chunks = [kept];
  }

  /** Searches for the secret. */
  kept(): ResponseKept {
    const chunks = this.#chunks;
    let read: Buffer = NO_BYTES;
    if (chunks) read = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    const plain = this.#decompressed(read);
    const searched = plain.subarray(0, BODY_MASKED_BYTES);
    const masked = this.#textOf(searched);
    return {
      status: this.status,
      headers: this.#headers.map(([name, value]) => [this.#withoutSecret(name), this.#withoutSecret(value)]),
      body: masked.subarray(0, RESPONSE_BODY_KEPT_BYTES),
      bodyTruncated:
        this.#bodyBytes > read.length ||
        plain.length > searched.length ||
        masked.length > RESPONSE_BODY_KEPT_BYTES,
    };
  }

  #withoutSecret(text: string): string {
    return this.#mask?.inText(text, this.#allowance) ?? text;
  }

  /** Returns a body as UTF-8, without the secret. */
  #textOf(body: Buffer): Buffer {
    const text = asUtf8(body, this.#contentType);
    if (!text) return Buffer.from(NOT_DECODED);
    if (text === body) return this.#mask?.inBody(body, this.#allowance) ?? body;
    return this.#mask?.inDecoded(text, body, this.#allowance) ?? text;
  }

  #decompressed(body: Buffer): Buffer {
    const begins = codingOf(body);
    const coding = this.#contentEncoding || begins;
    if (!coding || body.length === 0) return body;
    // These begin with bytes of their own, so it is not compressed, whatever the header says.
    if (begins === null && /^,(?:(?:x-)?gzip|zstd)$/i.test(coding)) return body;
    const plain = this.#allowance.take(DECOMPRESSING_COST) ? decompressed(body, coding) : null;
    if (plain) return plain;
    // Without the header it may be another text that begins in the same way.
    return this.#contentEncoding === '' ? body : Buffer.from(NOT_DECOMPRESSED);
  }
}

const NO_BYTES = Buffer.alloc(0);

function textOf(raw: Buffer | string | undefined): string {
  return typeof raw === 'string' ? raw : (raw?.toString('latin1') ?? '');
}
