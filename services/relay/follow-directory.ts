import { type Broker, type Follower, REFUSED } from '../broker/broker.ts';
import type { Directory } from '../domain/directory.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import { CheckedDirectory } from './checked-directory.ts';
import type { PublishChecks } from './publishable.ts';

export interface FollowDirectoryDeps {
  readonly broker: Pick<Broker, 'followDirectory'>;
  readonly directory: Directory;
  /** Null where no key ring is: routers and recorders take records as they are. */
  readonly checks: Pick<PublishChecks, 'seals' | 'refused'> | null;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Follows the directory stream. Resolves when the whole table, as it was at the call, was read. */
export async function followDirectory(deps: FollowDirectoryDeps): Promise<Follower> {
  const { broker, directory, checks } = deps;
  if (!checks) return broker.followDirectory((change) => directory.apply(change));
  const checked = new CheckedDirectory({ ...deps, ...checks, directory });
  const follower = await broker.followDirectory((change) =>
    checked.apply(change) === false ? REFUSED : undefined,
  );
  return {
    stalenessMs: () => follower.stalenessMs(),
    close: () => {
      checked.stop();
      return follower.close();
    },
  };
}
