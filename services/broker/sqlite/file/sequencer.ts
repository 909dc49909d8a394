import { SEQUENCES_PER_MS } from '../../../domain/catalog/sequence.ts';
import { type DomainEvent, withData } from '../../../domain/event.ts';
import type { Clock } from '../../../process/clock.ts';

/**
 * Gives events their sequences, in the order of the calls. The last one is stored with each commit, so that none is
 * lower after a restart, whatever the clock says then.
 */
export class Sequencer {
  readonly #clock: Pick<Clock, 'wall'>;
  #last: number;

  /** `last`: the highest sequence that the file knows of. */
  constructor(clock: Pick<Clock, 'wall'>, last: number) {
    this.#clock = clock;
    this.#last = last;
  }

  /** The highest sequence that was given. */
  get last(): number {
    return this.#last;
  }

  /** Returns the event with the next sequence. */
  next(event: DomainEvent): DomainEvent {
    this.#last = Math.max(this.#last + 1, Math.floor(this.#clock.wall() * SEQUENCES_PER_MS));
    return withData(event, event.data, event.publishedBy, this.#last);
  }

  /** Returns an event that is put back: it keeps its place, so that it stays older than those accepted since. */
  again(event: DomainEvent): DomainEvent {
    return event.sequence === undefined ? this.next(event) : event;
  }
}
