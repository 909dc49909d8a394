import type { TopicRecord } from './topic-reader.ts';

/** Where a record lies on a shelf. */
export type ShelfPosition = Pick<TopicRecord, 'timestamp' | 'partition' | 'offset'>;

export type OnShelf = TopicRecord & { readonly value: Buffer };

/** Oldest first; records of one moment by partition and offset, so that every record has one place. */
export function compareOnShelf(one: ShelfPosition, other: ShelfPosition): number {
  return one.timestamp - other.timestamp || one.partition - other.partition || one.offset - other.offset;
}

export function positionText({ timestamp, partition, offset }: ShelfPosition): string {
  return `${timestamp}-${partition}-${offset}`;
}

const NUMBER = '(0|[1-9]\\d{0,14})';
const POSITION = new RegExp(`^${NUMBER}-${NUMBER}-${NUMBER}$`);

/** Undefined when the text is none that `positionText` makes. */
export function readPosition(text: string): ShelfPosition | undefined {
  const match = POSITION.exec(text);
  if (!match) return undefined;
  const [timestamp = 0, partition = 0, offset = 0] = match.slice(1).map(Number);
  return { timestamp, partition, offset };
}

/** The oldest records of many. Keeps more than are asked for: some may turn out to be taken off. */
export class OldestOnShelf {
  readonly #keptMax: number;
  #kept: OnShelf[] = [];
  #hasDropped = false;

  constructor(limit: number) {
    this.#keptMax = limit * 2;
  }

  /** There were more than are kept. */
  get hasDropped(): boolean {
    return this.#hasDropped;
  }

  add(record: OnShelf): void {
    this.#kept.push(record);
    // Room for as many again, so that it is not sorted at every record.
    if (this.#kept.length >= this.#keptMax * 2) this.#drop();
  }

  sorted(): OnShelf[] {
    this.#drop();
    return this.#kept;
  }

  #drop(): void {
    this.#kept.sort(compareOnShelf);
    if (this.#kept.length <= this.#keptMax) return;
    this.#kept.length = this.#keptMax;
    this.#hasDropped = true;
  }
}
