import type { Directory, DirectoryChange } from '../domain/directory.ts';
import type { RecordSeals } from '../domain/seals/record-seals.ts';
import type { RefusedRecords } from './refused-records.ts';

/** The checks of what the store publishes. */
export interface PublishChecks {
  readonly seals: RecordSeals;
  readonly refused: RefusedRecords;
  /** Caught up with the DIRECTORY stream. */
  readonly directory: Pick<Directory, 'newest'>;
}

/**
 * Returns the change as it is published, or null when it is not: something other than hookrail has written it. Throws,
 * so that it is tried again, while the key ring lacks its key. Without checks every change is published as it is.
 *
 * An endpoint that a recorder without the key ring has switched off is sealed here. It must build on a state that is not
 * older than what the stream has: an earlier state would come back to life when its merchant enables it again.
 */
export function publishable(
  change: DirectoryChange,
  checks: PublishChecks | null | undefined,
): DirectoryChange | null {
  if (!checks) return change;
  const { seals, refused, directory } = checks;
  const verdict = seals.verdict(change);
  switch (verdict) {
    case 'valid':
      return change;
    case 'key_missing':
      throw new Error(
        `${change.kind} ${change.id} is sealed with key "${change.seal?.keyId}", which the key ring lacks: put it back (HOOKRAIL_KEYRING)`,
      );
    case 'switched_off': {
      const newest = directory.newest(change);
      // It was published before a crash, with a seal.
      if (newest && newest.version >= change.version) return null;
      if (!newest || (change.seal?.version ?? 0) >= newest.version) return seals.sealed(change);
      refused.note('store', change, 'old_base');
      return null;
    }
    default:
      refused.note('store', change, verdict);
      return null;
  }
}
