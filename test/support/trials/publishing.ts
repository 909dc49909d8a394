/** A producer that publishes until it is stopped. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Trial } from './kafka-trial.ts';

export interface Publishing {
  /** Resolves when the last batch is acknowledged. Rejects when one never was. */
  stop(): Promise<void>;
}

type Publisher = Pick<Trial, 'publish'>;

/** Publishes batch after batch, each when the one before is acknowledged. */
export function publishSteadily(trial: Publisher, pauseMs: number): Publishing {
  let isOver = false;
  const publishing = (async () => {
    while (!isOver) {
      await trial.publish();
      await sleep(pauseMs);
    }
  })();
  // `stop` rejects with a failure.
  publishing.catch(() => {});
  const stop = () => {
    isOver = true;
    return publishing;
  };
  return { stop };
}

/** Publishes a batch every so often, whether earlier ones are acknowledged or not. */
export function publishAtPace(trial: Publisher, everyMs: number): Publishing {
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const timer = setInterval(() => {
    const publishing = trial
      .publish()
      .catch((error: unknown) => failures.push(error))
      .then(() => {
        underWay.delete(publishing);
      });
    underWay.add(publishing);
  }, everyMs);
  const stop = async () => {
    clearInterval(timer);
    await Promise.all(underWay);
    if (failures.length > 0) throw failures[0];
  };
  return { stop };
}
