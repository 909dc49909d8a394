import type { LostRange } from '../../losses.ts';
import { type CommitNote, readNote } from './commit-note.ts';
import type { TopicConsumerOptions } from './topic-consumer-options.ts';

type Options = Pick<
  TopicConsumerOptions,
  'acknowledged' | 'admins' | 'groupId' | 'log' | 'lost' | 'startOf' | 'topic' | 'topicId'
>;

interface StartPosition {
  readonly note: CommitNote;
  /** The offset of the oldest record. */
  readonly first: number;
  /** The offset after the newest record. */
  readonly end: number;
  readonly topicId: string | null;
  /** Losses before this offset are known to an operator. */
  readonly acknowledged: number;
}

/**
 * Returns where to begin to read a partition: at the position of the group or its owner, or at the oldest record when
 * that position belongs to a replaced log. Rejects when the brokers do not return the bounds.
 */
export async function startPosition(options: Options, id: number): Promise<StartPosition> {
  const { admins, groupId, log, startOf, topic } = options;
  const topicId = await options.topicId();
  const { low: first, high: end } = await admins.boundsOf(topic, id);
  const { offset, metadata } = await admins.committedOf(groupId, topic, id);
  const committed = readNote(offset < 0 ? first : offset, metadata);
  const isOther = topicId !== null && committed.topicId !== null && committed.topicId !== topicId;
  const start = await startOf?.(id, { topicId, isCommitted: offset >= 0 && !isOther });
  const position = startOf ? (start ?? first) : committed.offset;
  const isElsewhere = startOf ? false : isOther;
  if (isElsewhere || position > end) {
    log.error(
      { topic, partition: id, position, end },
      'the topic was deleted and created again, or its end was lost: reading it from its beginning',
    );
    return { note: readNote(first, null), first, end, topicId, acknowledged: 0 };
  }
  const note = startOf ? { ...readNote(position, null), lost: isOther ? null : committed.lost } : committed;
  const hasLost = note.lost !== null || note.offset < first;
  const acknowledged = hasLost ? ((await options.acknowledged?.(id, topicId)) ?? 0) : 0;
  return { note, first, end, topicId, acknowledged };
}

/** Logs and counts a loss, as an error: deleted records cannot come back. */
export function tellLost(
  { log, lost: count, topic }: Pick<Options, 'log' | 'lost' | 'topic'>,
  partition: number,
  { from, to, count: lost }: LostRange,
): void {
  log.error(
    { topic, partition, from, to, lost },
    'records were deleted before they were read: raise the retention of the topic',
  );
  count?.(partition, lost);
}
