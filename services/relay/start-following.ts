import type { Registry } from 'prom-client';
import type { Follower } from '../broker/broker.ts';
import type { Config } from '../config/config.ts';
import { Directory } from '../domain/directory.ts';
import { RecordSeals } from '../domain/seals/record-seals.ts';
import type { KeyRing } from '../keys/keyring.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import { type FollowDirectoryDeps, followDirectory } from './follow-directory.ts';
import type { PublishChecks } from './publishable.ts';
import { RefusedRecords } from './refused-records.ts';

/** The merchants and endpoints that a process knows, and how it follows their changes. */
export interface Following {
  readonly directory: Directory;
  readonly follower: Follower;
  /** Of directory records; null where no key ring is: routers and recorders take records as they are. */
  readonly checks: PublishChecks | null;
}

interface FollowingDeps extends Omit<FollowDirectoryDeps, 'directory' | 'checks'> {
  readonly config: Pick<Config, 'usesKeys'>;
  readonly keyRing: KeyRing;
  readonly registry: Registry;
  readonly lifecycle: Lifecycle;
}

/** Follows the directory stream until the process stops. Resolves when the whole table was read. */
export async function startFollowing(deps: FollowingDeps): Promise<Following> {
  const directory = new Directory();
  const checks = deps.config.usesKeys
    ? { seals: new RecordSeals(deps.keyRing), directory, refused: new RefusedRecords(deps) }
    : null;
  const follower = await followDirectory({ ...deps, directory, checks });
  deps.lifecycle.onStop('directory', () => follower.close());
  return { directory, follower, checks };
}
