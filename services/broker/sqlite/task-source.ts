import type { DeliveryTask } from '../../domain/task.ts';
import type { Settlement, TaskSource } from '../broker.ts';
import { WorkSource } from '../work-source.ts';
import type { DelayedTasks } from './delayed-tasks.ts';
import type { LogStream } from './log-stream.ts';
import type { FileItem } from './work.ts';

type Options = ConstructorParameters<typeof WorkSource<FileItem<DeliveryTask>, DeliveryTask, Settlement>>[0];

/** The tasks of one class: first attempts, and delayed ones. */
export class FileTaskSource
  extends WorkSource<FileItem<DeliveryTask>, DeliveryTask, Settlement>
  implements TaskSource
{
  readonly #delayed: DelayedTasks;

  constructor(
    now: LogStream<DeliveryTask>,
    delayed: DelayedTasks,
    options: Omit<Options, 'feeds' | 'input'>,
  ) {
    super({ ...options, feeds: [now, delayed], input: ({ record }) => record });
    this.#delayed = delayed;
  }

  wake(endpointId: string, most: number): Promise<number> {
    return this.#delayed.wake(endpointId, most);
  }
}
