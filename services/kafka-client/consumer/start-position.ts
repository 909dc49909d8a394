import type { Contradiction, Doubt } from '../client/doubt.ts';
import { type CommitNote, type LostRange, noteUpTo, reachOf, readNote } from './commit-note.ts';
import type { Partition } from './partition.ts';
import type { TopicConsumerOptions } from './topic-consumer-options.ts';

type Options = Pick<
  TopicConsumerOptions,
  'acknowledged' | 'admins' | 'groupId' | 'log' | 'lost' | 'startOf' | 'topic' | 'topicId'
>;

export interface StartPosition {
  readonly note: CommitNote;
  /** The offset of the oldest record. */
  readonly first: number;
  /** Nothing that was known of offsets from here on counts: the offset after the newest record, or where the end was lost. */
  readonly end: number;
  readonly topicId: string | null;
  /** Losses before this offset are known to an operator. */
  readonly acknowledged: number;
  /** The position belongs to a replaced log, as does everything else that is known. */
  readonly isAnew: boolean;
}

interface Memory {
  readonly doubt: Doubt;
  /** The same partition, when this process held it before. */
  readonly earlier?: Partition | undefined;
}

/**
 * Returns where to begin to read a partition: at the position of the group or its owner, or at the oldest record when
 * that position certainly belongs to a replaced log. Null = the brokers contradict the position, but not for long enough
 * to believe it: ask again. Rejects when they do not return the bounds.
 */
export async function startPosition(
  options: Options,
  id: number,
  { doubt, earlier }: Memory,
): Promise<StartPosition | null> {
  const found = await askedFor(options, id, doubt, earlier);
  const { known, note, first, end, topicId } = found;
  const contradiction = doubt.judge(known, { topicId: found.answeredId, end });
  if (contradiction === 'unsure') return null;
  const where = contradiction ? replacedNote(options, id, found, { contradiction, doubt }) : { note };
  const hasLost = where.note.lost !== null || where.note.offset < first;
  const acknowledged = hasLost ? ((await options.acknowledged?.(id, topicId)) ?? 0) : 0;
  return { isAnew: false, end, ...where, first, topicId, acknowledged };
}

type Found = Awaited<ReturnType<typeof askedFor>>;

/**
 * Each answer is compared only with those that arrived before it was requested. An end that was requested before the
 * commit could be lower, as if the log had been replaced.
 */
async function askedFor(options: Options, id: number, doubt: Doubt, earlier: Partition | undefined) {
  const { admins, groupId, startOf, topic } = options;
  const { offset, metadata } = await admins.committedOf(groupId, topic, id);
  const committed = offset < 0 ? null : readNote(offset, metadata);
  const knownId = committed?.topicId ?? earlier?.topicId ?? null;
  const answeredId = await options.topicId();
  const topicId = answeredId ?? knownId;
  const isOther = knownId !== null && knownId !== topicId;
  const owned = await startOf?.(id, topicId);
  const { low: first, high: end } = await admins.boundsOf(topic, id, { anew: doubt.isOpen });
  const atFirst = readNote(first, null);
  const ownersNote = { ...readNote(owned ?? first, null), lost: isOther ? null : (committed?.lost ?? null) };
  const note = startOf ? ownersNote : (committed ?? atFirst);
  const remembered = !startOf && earlier?.topicId === topicId ? earlier.reach : 0;
  const known = { topicId: knownId, reach: Math.max(reachOf(note), remembered) };
  return { known, note, atFirst, first, end, topicId, answeredId, isOwned: owned !== undefined, earlier };
}

/** Returns where to read on in a log that is certainly another, or shorter than it was. */
function replacedNote(
  { log, topic }: Options,
  partition: number,
  found: Found,
  { contradiction, doubt }: { readonly contradiction: Contradiction; readonly doubt: Doubt },
): Pick<StartPosition, 'note'> & Partial<Pick<StartPosition, 'end' | 'isAnew'>> {
  const { known, note, atFirst, first, end, topicId, isOwned } = found;
  const fields = { topic, partition, position: known.reach, end };
  if (contradiction === 'shorter log' && known.topicId !== null && known.topicId === topicId) {
    const from = Math.max(doubt.lowestEnd, first);
    log.error(
      { ...fields, from },
      'the topic is the same, but the end of its log was lost: reading on where the log then ended; nothing before it is ' +
        'read again. Compare with what was produced since (docs/operate/README.md, HookrailOffsetsOutOfRange)',
    );
    return { note: noteUpTo(note, from), end: from };
  }
  // An owner names its positions by the topic's id, so this one is in the new topic.
  if (contradiction === 'another topic' && isOwned && known.reach <= end) return { note, isAnew: true };
  log.error(
    fields,
    contradiction === 'another topic'
      ? 'the topic was deleted and created again: reading it from its beginning'
      : 'the topic was deleted and created again, or its end was lost, and no topic id tells which: reading it from its beginning',
  );
  return { note: { ...atFirst, mark: markAfter(found) }, isAnew: true };
}

/**
 * Returns a mark for a new log: with the offsets added, it goes on above those of the log before. Kafka deletes the
 * positions of a topic with the topic, so what this process remembers of the partition counts, too. Where that is of the
 * new log already, the log is only read again: its mark stays.
 */
function markAfter({ known, note, topicId, earlier }: Found): number | undefined {
  if (earlier !== undefined && topicId !== null && earlier.topicId === topicId) return earlier.mark;
  const remembered = earlier?.markAt(earlier.reach);
  const marks = [
    ...(note.mark === undefined ? [] : [note.mark + known.reach]),
    ...(earlier === undefined || remembered === undefined ? [] : [remembered + earlier.reach]),
  ];
  return marks.length === 0 ? undefined : Math.max(...marks);
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
