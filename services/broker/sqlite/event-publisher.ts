import { ByteWriter } from '../../codec/byte-writer.ts';
import { type DomainEvent, eventAsText } from '../../domain/event.ts';
import type { QuarantineReason, Refusal } from '../../domain/quarantine.ts';
import { eventLabel } from '../../domain/stalls/stall.ts';
import type { Clock } from '../../process/clock.ts';
import type { Activity } from '../../watchdog/activity.ts';
import type { PublishedEvent, PublishOptions, ReceivedEvent, RouterResult } from '../broker.ts';
import type { WorkSource } from '../work-source.ts';
import { type CommitHalf, writeContent } from './commit-half.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { EngineThread } from './file/engine-thread.ts';
import { EVENTS } from './file/wire.ts';
import type { LogStream } from './log-stream.ts';
import { SAME } from './seen-events.ts';
import { conflicting, EmbeddedEvent, refusedRecord, settleEvent } from './settle.ts';
import type { FileItem } from './work.ts';

const EVENTS_PER_CALL_MAX = 500;

interface Deps {
  readonly queue: CommitQueue;
  readonly thread: EngineThread;
  readonly clock: Clock;
  readonly activity: Activity;
  readonly source: WorkSource<FileItem<DomainEvent>, ReceivedEvent, RouterResult>;
  readonly stream: Pick<LogStream<DomainEvent>, 'pending'>;
  /** Called with the number of events that were quarantined. */
  readonly quarantined: (reason: QuarantineReason, count: number) => void;
}

/**
 * Publishes events. Where the router is in this process and has nothing to catch up with, its results are committed in
 * place of the event, so the tasks are durable when the call resolves. Otherwise the event goes to its stream.
 */
export class EventPublisher {
  readonly #deps: Deps;
  /** Events on their way to the stream: until they are in it, nothing may overtake them. */
  #streaming = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** See the port. */
  async publish(
    events: readonly DomainEvent[],
    { refusals, isDry }: PublishOptions = {},
  ): Promise<PublishedEvent[]> {
    if (events.length === 0) return [];
    if (events.length > EVENTS_PER_CALL_MAX) {
      throw new RangeError(
        `${events.length} events in one call: at most ${EVENTS_PER_CALL_MAX} are accepted`,
      );
    }
    if (isDry) return this.#known(events);
    const published = refusals?.size
      ? await this.#publishApart(events, refusals)
      : await this.#publishAccepted(events);
    const conflicts = events.filter((_, index) => published[index] === 'conflict');
    if (conflicts.length > 0) await this.#quarantine(conflicts);
    return published;
  }

  /** The outcome of events still being written is not known yet. */
  async #known(events: readonly DomainEvent[]): Promise<PublishedEvent[]> {
    const published = events.map((): PublishedEvent => 'accepted');
    const content = new ByteWriter();
    const lengths = events.map((event) => writeContent(eventAsText(event), content));
    const reply = await this.#deps.thread.read({ kind: 'knownEvents', events: content.written, lengths });
    if (reply.kind !== 'known') throw new Error(`unexpected answer ${reply.kind}`);
    for (const [position, verdict] of pairs(reply.repeats)) published[position] = verdict;
    return published;
  }

  #publishAccepted(given: readonly DomainEvent[]): Promise<PublishedEvent[]> {
    const events = given.map((event) => this.#deps.queue.sequencer.next(event));
    const results = this.#routed(events);
    return results ? this.#publishRouted(events, results) : this.#publishEvents(events);
  }

  /** Refused events need no router: they go to the quarantine at once, and may overtake others. */
  async #publishApart(
    events: readonly DomainEvent[],
    refusals: ReadonlyMap<DomainEvent, Refusal>,
  ): Promise<PublishedEvent[]> {
    const at = this.#deps.clock.wall();
    const [refused, results]: [DomainEvent[], RouterResult[]] = [[], []];
    for (const given of events) {
      const refusal = refusals.get(given);
      if (refusal === undefined) continue;
      const event = this.#deps.queue.sequencer.next(given);
      refused.push(event);
      results.push({ kind: 'quarantined', record: refusedRecord(event, refusal, at) });
    }
    const others = events.filter((event) => !refusals.has(event));
    const [ofRefused, ofOthers] = await Promise.all([
      this.#publishRouted(refused, results),
      others.length === 0 ? [] : this.#publishAccepted(others),
    ]);
    const [nextRefused, nextOther] = [ofRefused.values(), ofOthers.values()];
    return events.map((event) => (refusals.has(event) ? nextRefused : nextOther).next().value ?? 'accepted');
  }

  /** Returns the router's results, or undefined when the events must wait for it in their stream. */
  #routed(events: readonly DomainEvent[]): RouterResult[] | undefined {
    const { clock, source, stream } = this.#deps;
    if (stream.pending + this.#streaming > 0) return undefined;
    const results: RouterResult[] = [];
    for (const event of events) {
      const result = source.resultOf(new EmbeddedEvent(event, clock.wall()));
      if (!result) return undefined;
      results.push(result);
    }
    return results;
  }

  async #publishRouted(
    events: readonly DomainEvent[],
    results: readonly RouterResult[],
  ): Promise<PublishedEvent[]> {
    const { activity, clock, quarantined, queue, source } = this.#deps;
    const published = events.map((): PublishedEvent => 'accepted');
    /** The events of the last commit that was tried, and its number of events before them. */
    let tried: number[] = [];
    let base = 0;
    await queue.publish((half: CommitHalf, refused) => {
      for (const [position, verdict] of pairs(refused)) {
        const index = tried[position - base];
        if (index !== undefined) published[index] = verdict;
      }
      base = half.routedEvents;
      tried = [...events.keys()].filter((index) => published[index] === 'accepted');
      for (const index of tried) {
        const event = events[index] as DomainEvent;
        const result = results[index] as RouterResult;
        half.routed(result.kind === 'routed' ? result.journal.event : eventAsText(event));
        activity.within(eventLabel(event), () => settleEvent(result, half, clock.now()));
      }
    });
    for (const index of tried) {
      const result = results[index] as RouterResult;
      source.used(result);
      if (result.kind === 'quarantined') quarantined(result.record.reason, 1);
    }
    return published;
  }

  async #publishEvents(events: readonly DomainEvent[]): Promise<PublishedEvent[]> {
    const published = events.map((): PublishedEvent => 'accepted');
    let base = 0;
    this.#streaming += events.length;
    try {
      const { repeats } = await this.#deps.queue.publish((half) => {
        base = half.checkedEvents;
        for (const event of events) half.append(EVENTS, event, true);
      });
      for (const [position, verdict] of pairs(repeats)) {
        if (published[position - base] !== undefined) published[position - base] = verdict;
      }
    } finally {
      this.#streaming -= events.length;
    }
    return published;
  }

  /** Resolves when these are in quarantine: each has the id of an earlier event, and other content. */
  async #quarantine(conflicts: readonly DomainEvent[]): Promise<void> {
    const now = this.#deps.clock.wall();
    await this.#deps.queue.publish((half) => {
      for (const event of conflicts) half.quarantine(conflicting(event, now));
    });
    this.#deps.quarantined('event_id_conflict', conflicts.length);
  }
}

/** Reads pairs of a position and a verdict, as in CommitReply. */
function* pairs(numbers: readonly number[]): Generator<[position: number, 'duplicate' | 'conflict']> {
  for (let at = 0; at < numbers.length; at += 2) {
    yield [numbers[at] ?? 0, numbers[at + 1] === SAME ? 'duplicate' : 'conflict'];
  }
}
