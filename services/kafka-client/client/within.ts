import type { Clock } from '../../process/clock.ts';

/** A broker did not answer in time. */
export class Late extends Error {
  override readonly name = 'Late';
}

/** Resolves and rejects as `asked` does. Rejects with Late when that takes longer than `ms` milliseconds. */
export async function within<T>(clock: Pick<Clock, 'sleep'>, ms: number, asked: Promise<T>): Promise<T> {
  const limit = new AbortController();
  const late = clock.sleep(ms, limit.signal).then(() => {
    throw new Late(`no answer within ${ms / 1000} s`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([asked, late]);
  } finally {
    limit.abort();
    asked.catch(() => {});
  }
}
