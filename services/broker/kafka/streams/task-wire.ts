import type { IHeaders } from 'kafkajs';
import {
  type DeliveryTask,
  PARKED_REASONS,
  type Parking,
  TASK_CLASSES,
  type TaskClass,
  taskClass,
} from '../../../domain/task.ts';
import type { ReadRecord } from '../../../kafka-client/consumer/partition.ts';
import { TRACEPARENT } from '../../../telemetry/trace-context.ts';
import type { KafkaRecords } from '../registry/records.ts';

/**
 * The header read before a task is decoded: identity, class and due time by the brokers' clocks and, while it is parked,
 * why and since when. Separated by spaces, and readable with a console consumer. One header, because each costs as much
 * as some fields of the task.
 */
const MARK = 'hookrail-task';

export function taskHeaders(task: DeliveryTask): Record<string, string> {
  const { parked } = task;
  const why = parked ? ` ${parked.reason} ${parked.since}` : '';
  const headers = { [MARK]: `${identityOf(task)} ${taskClass(task)} ${task.dueAt}${why}` };
  return task.traceparent === undefined ? headers : { ...headers, [TRACEPARENT]: task.traceparent };
}

export interface TaskMark {
  /** (delivery, attempt, hop): two records with the same one are copies. */
  readonly identity: string;
  readonly taskClass: TaskClass;
  readonly attempt: number;
  readonly hop: number;
  /** Milliseconds since the epoch by the brokers' time; 0 = at once. */
  readonly dueAt: number;
  readonly parked?: Parking;
}

/** Returns the mark of a task's record; undefined when there is none, or it is malformed. */
export function taskMark(record: ReadRecord, records: KafkaRecords): TaskMark | undefined {
  const [identity = '', className, due = '', why, since] = text(record.headers, MARK)?.split(' ') ?? [];
  const named = TASK_CLASSES.find((one) => one === className);
  if (identity !== '' && named !== undefined && due !== '' && Number.isFinite(Number(due))) {
    const [attempt, hop] = identity.split('/').slice(-2).map(Number);
    const mark = { identity, taskClass: named, attempt: attempt ?? 0, hop: hop ?? 0, dueAt: Number(due) };
    const reason = PARKED_REASONS.find((one) => one === why);
    return reason === undefined ? mark : { ...mark, parked: { reason, since: Number(since) } };
  }
  // Written by another program, or the headers were lost on the way.
  try {
    const task = records.decode('task', record.value ?? Buffer.alloc(0));
    const { attempt, hop, dueAt, parked } = task;
    const mark = { identity: identityOf(task), taskClass: taskClass(task), attempt, hop, dueAt };
    return parked ? { ...mark, parked } : mark;
  } catch {
    return undefined;
  }
}

function identityOf({ deliveryId, attempt, hop }: DeliveryTask): string {
  return `${deliveryId}/${attempt}/${hop}`;
}

function text(headers: IHeaders, name: string): string | undefined {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value)?.toString();
}
