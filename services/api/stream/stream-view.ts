import { transactionIdOf } from '../../domain/catalog/subject.ts';
import type { WebhookType } from '../../domain/notices/notice.ts';
import type { Feed, FeedEntry } from '../../store/feed.ts';
import { aboutOf } from '../find/subject-json.ts';
import type { Chunk } from './merchant-tail.ts';
import { wantedText } from './stream-text.ts';

/** Entries that are read together with their bodies. */
const WITH_BODIES_MAX = 50;

interface Wanted extends ReturnType<typeof aboutOf> {
  readonly type?: WebhookType;
  readonly endpointId?: string;
}

/** A stream that has not the whole feed, or more than others have: it is written for itself. */
export class StreamView {
  readonly #feed: Feed;
  readonly #merchantId: string;
  readonly #isWanted: (entry: FeedEntry) => boolean;
  readonly #withBodies: boolean;

  constructor(deps: {
    readonly feed: Feed;
    readonly merchantId: string;
    readonly wanted: Wanted;
    readonly withBodies: boolean;
  }) {
    this.#feed = deps.feed;
    this.#merchantId = deps.merchantId;
    this.#isWanted = (entry) => isWanted(entry, deps.wanted);
    this.#withBodies = deps.withBodies;
  }

  /** Yields what the stream sends of a part of the feed. `mayRead` resolves when it may read a page of its own. */
  async *texts({ page, after, next }: Chunk, mayRead: () => Promise<void>): AsyncGenerator<string> {
    const isWanted = this.#isWanted;
    if (!this.#withBodies || !page.entries.some((entry) => entry.kind === 'routed' && isWanted(entry)))
      return yield wantedText(page, isWanted);
    for (let from = after; from !== next; ) {
      await mayRead();
      const options = { after: from, upTo: next, limit: WITH_BODIES_MAX, withBodies: true };
      const part = await this.#feed.read(this.#merchantId, options);
      yield wantedText(part, isWanted);
      if (part.next === from) return;
      from = part.next;
    }
  }
}

/** Returns what a request wants of the stream; undefined = all of it, as others do. */
export function viewOf(query: URLSearchParams): { wanted: Wanted; withBodies: boolean } | undefined {
  const type = query.get('type') as WebhookType | null;
  const endpointId = query.get('endpoint_uuid')?.toLowerCase();
  const wanted = {
    ...aboutOf(query),
    ...(type === null ? {} : { type }),
    ...(endpointId === undefined ? {} : { endpointId }),
  };
  const withBodies = query.get('include') === 'body';
  return withBodies || Object.keys(wanted).length > 0 ? { wanted, withBodies } : undefined;
}

function isWanted(entry: FeedEntry, { endpointId, ...ofEvent }: Wanted): boolean {
  if (entry.kind === 'endpoint_changed')
    return Object.keys(ofEvent).length === 0 && (endpointId === undefined || entry.endpointId === endpointId);
  const at = entry.kind === 'skipped' ? entry.endpointId : entry.delivery.endpointId;
  if (endpointId !== undefined && at !== endpointId) return false;
  const about = entry.kind === 'skipped' ? entry.event : entry.delivery;
  const { type, entityId, subjectId, transactionId } = ofEvent;
  return (
    (type === undefined || about.type === type) &&
    (entityId === undefined || about.entityId === entityId) &&
    (subjectId === undefined || (about.subjectId ?? about.entityId) === subjectId) &&
    (transactionId === undefined || transactionIdOf(about.type, about.subjectId) === transactionId)
  );
}
