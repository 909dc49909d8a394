import { errorOfCode } from '../client/kafkajs-brokers.ts';
import type { RecordRefused } from './record-sender.ts';

const OF_SIZE = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'];
/** Refusals because of the record: it would be refused again. */
const OF_CONTENT = [
  ...OF_SIZE,
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'POLICY_VIOLATION',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
  'UNSUPPORTED_COMPRESSION_TYPE',
];
/** Refusals of the user that writes: the permission can be granted. */
const OF_RIGHTS = ['TOPIC_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED', 'INVALID_TOPIC_EXCEPTION'];

/** Returns what a partition's error code means for its records; anything not known to be final is doubtful. */
export function codeRefusal(errorCode: number): {
  readonly kind: 'content' | 'forbidden' | 'unacknowledged';
  readonly detail: string;
  /** The reason of a permanent refusal. */
  readonly reason: RecordRefused['reason'];
} {
  const { type, message } = errorOfCode(errorCode);
  const detail = `${type}: ${message}`;
  const reason = OF_SIZE.includes(type) ? 'too_large' : 'write_refused';
  if (OF_CONTENT.includes(type)) return { kind: 'content', detail, reason };
  return { kind: OF_RIGHTS.includes(type) ? 'forbidden' : 'unacknowledged', detail, reason };
}

/** Returns what helps when the Kafka user may not write a topic; `grant`: the command that grants it. */
export function rightMissing(topic: string, grant = 'grant it'): string {
  return `the Kafka user lacks WRITE on topic ${topic}; its records wait: ${grant}`;
}
