import type { Clock } from '../../../process/clock.ts';
import type { Consumer, Source } from '../../broker.ts';

/** A reader that must run before work can be handed over. */
interface Reading {
  start(): Promise<void>;
  /** Commits progress and leaves, in no more than this time. */
  stop(deadlineMs: number): Promise<void>;
}

/** The time reserved for leaving, even when the handlers took all the time there was. */
const LEAVE_MS_MIN = 500;

/** A source whose topics are read from its first consumer on, until that one has stopped. */
export function startedSource<In, Out>(
  work: Source<In, Out>,
  reading: Reading,
  clock: Clock,
): Source<In, Out> {
  return {
    async consume(handler, limits) {
      const consumer = await work.consume(handler, limits);
      await reading.start();
      let stop: ReturnType<Consumer['stop']> | null = null;
      const stopOnce = async (deadlineMs: number) => {
        const until = clock.now() + deadlineMs;
        const end = await consumer.stop(deadlineMs);
        await reading.stop(Math.max(LEAVE_MS_MIN, until - clock.now()));
        return end;
      };
      return {
        pause: () => consumer.pause(),
        resume: () => consumer.resume(),
        stop(deadlineMs) {
          stop ??= stopOnce(deadlineMs);
          return stop;
        },
      };
    },
  };
}
