import { plainDocument } from '../../../codec/clear-document.ts';
import { asBuffer } from '../../../codec/record-codec.ts';
import type { Quarantined } from '../../../domain/quarantine.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { ClearText } from '../../clear-text.ts';
import { topicList } from '../topics/topics.ts';
import type { PutBackDeps } from './put-back.ts';
import { learnWithin } from './topic-record-store.ts';

/** Returns what a quarantined record says: its bytes are read with the schema that the registry has of them. */
export async function clearTextOf(
  { bytes, origin, reason }: Quarantined,
  { records, topics, clock }: Pick<PutBackDeps, 'records' | 'topics' | 'clock'>,
): Promise<ClearText> {
  const unreadable = (why: string): ClearText => ({ kind: 'unreadable', why });
  if (origin?.valueBytes === null) return unreadable('the record has no value (a tombstone)');
  if (origin && bytes.length < origin.valueBytes)
    return unreadable(`only the first ${bytes.length} of its ${origin.valueBytes} bytes are kept`);
  // Whatever stood still over it would stand still again.
  if (reason === 'event_stalled')
    return unreadable('it made a process stand still, so it is not read before it is put back');
  const value = asBuffer(bytes);
  try {
    await learnWithin(records, value, clock);
    const kind = kindOf(origin?.topic, topics);
    if (kind !== 'event') return { kind, document: plainDocument(records.decode(kind, value)) };
    const read = records.clearEvent(value);
    return 'why' in read ? unreadable(read.why) : { kind, ...read };
  } catch (error) {
    return unreadable(errorLine(error));
  }
}

function kindOf(topic: string | undefined, topics: PutBackDeps['topics']): 'event' | 'task' | 'journal' {
  // The record is from a deployment with other topic names: only events are read from topics of any name.
  if (topic === undefined || topic === topics.events || !topicList(topics).includes(topic)) return 'event';
  return topic === topics.journal ? 'journal' : 'task';
}
