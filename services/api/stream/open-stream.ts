import type { ServerResponse } from 'node:http';
import type { Clock } from '../../process/clock.ts';
import { goneSignal } from '../../process/gone.ts';
import type { ApiLimits } from '../context.ts';
import type { Chunk } from './merchant-tail.ts';
import type { StreamPlace } from './open-streams.ts';
import { type EndReason, endText, HEARTBEAT, openingText } from './stream-text.ts';
import type { StreamView } from './stream-view.ts';

export interface EventStreamOptions {
  readonly place: StreamPlace;
  readonly clock: Clock;
  readonly limits: Pick<ApiLimits, 'streamHeartbeatMs' | 'streamStallMs' | 'stopGraceMs'>;
  /** Fires when the station stops. */
  readonly stopping: AbortSignal;
  /** How long it stays open once everything was sent; Infinity = until somebody ends it. */
  readonly openMs: number;
  /** Limits the stream to some events; without it, the whole feed is sent. */
  readonly view?: Pick<StreamView, 'texts'> | undefined;
}

/**
 * One open stream: sends what follows a position, then what is added, at the reader's pace. It holds no more than one
 * page in memory: a reader that falls behind is sent from the store, and one that takes nothing for `streamStallMs` is
 * cut off.
 */
export class OpenStream {
  readonly #response: ServerResponse;
  readonly #options: EventStreamOptions;
  /** Fires when the client has left, its place is taken, or the station stops. */
  readonly #over = new AbortController();
  readonly #end = () => this.#over.abort();

  constructor(response: ServerResponse, options: EventStreamOptions) {
    this.#response = response;
    this.#options = options;
    for (const signal of [options.place.ended, options.stopping]) {
      if (signal.aborted) this.#end();
      else signal.addEventListener('abort', this.#end, { once: true });
    }
  }

  /** Sends from a position on, until the stream ends. Returns why. */
  async run(from: string): Promise<EndReason> {
    const { clock, openMs } = this.#options;
    const until = clock.now() + openMs;
    // The opening and the first page go together.
    this.#response.write(openingText(from));
    const reason = await this.#pump(from, until).catch((): EndReason => 'unavailable');
    this.#options.stopping.removeEventListener('abort', this.#end);
    this.#sayEnd(reason);
    return reason;
  }

  async #pump(from: string, until: number): Promise<EndReason> {
    const { place, clock, limits } = this.#options;
    const { tail } = place;
    let position = from;
    for (;;) {
      if (this.#over.signal.aborted) return this.#reason();
      const { head } = tail;
      const chunk = position === head ? undefined : (tail.recent(position) ?? (await this.#past(position)));
      if (!(await place.isKeyValid())) return 'key_revoked';
      // It ended while it waited: not everything was sent.
      if (this.#over.signal.aborted) continue;
      if (chunk !== undefined && chunk.next !== position) {
        if (!(await this.#sendChunk(chunk))) return 'too_slow';
        position = chunk.next;
        continue;
      }
      if (tail.head !== head) continue;
      const leftMs = until - clock.now();
      if (leftMs <= 0) return 'time_is_up';
      const waitedFrom = clock.now();
      await tail.changed(Math.min(leftMs, limits.streamHeartbeatMs), this.#over.signal);
      const isQuiet = clock.now() - waitedFrom >= limits.streamHeartbeatMs;
      if (isQuiet && !(await this.#send(HEARTBEAT))) return 'too_slow';
    }
  }

  /** Reads what is past, when it is this stream's turn. */
  async #past(position: string): Promise<Chunk | undefined> {
    const { place } = this.#options;
    await place.mayRead(this.#over.signal);
    if (this.#over.signal.aborted) return undefined;
    // Others may have read it meanwhile.
    return place.tail.recent(position) ?? place.tail.past(position);
  }

  async #sendChunk(chunk: Chunk): Promise<boolean> {
    const { view, place } = this.#options;
    if (view === undefined) return this.#send(chunk.bytes);
    for await (const text of view.texts(chunk, () => place.mayRead(this.#over.signal)))
      if (!(await this.#send(text))) return false;
    return true;
  }

  #reason(): EndReason {
    const { place, stopping } = this.#options;
    if (place.isReplaced) return 'replaced';
    return stopping.aborted ? 'shutting_down' : 'client_left';
  }

  /** Resolves once there is room for more; false when there was none for `streamStallMs`. */
  #send(text: Buffer | string): Promise<boolean> {
    const { signal } = this.#over;
    if (text.length === 0 || signal.aborted || this.#response.write(text)) return Promise.resolve(true);
    const { clock, limits } = this.#options;
    return new Promise((resolve) => {
      const done = (hasRoom: boolean) => {
        cancel();
        this.#response.off('drain', drained);
        signal.removeEventListener('abort', drained);
        resolve(hasRoom);
      };
      const drained = () => done(true);
      const cancel = clock.at(clock.now() + limits.streamStallMs, () => done(false));
      this.#response.once('drain', drained);
      signal.addEventListener('abort', drained, { once: true });
    });
  }

  /** Says why, and closes the connection when the reader does not even read that. */
  #sayEnd(reason: EndReason): void {
    const { clock, limits } = this.#options;
    const response = this.#response;
    const gone = goneSignal(response);
    if (gone.aborted) return;
    const cancel = clock.at(clock.now() + limits.stopGraceMs, () => response.req.socket.destroy());
    gone.addEventListener('abort', cancel, { once: true });
    response.end(endText(reason));
  }
}
