import type { RecordSeals } from '../domain/seals/record-seals.ts';
import type { Clock } from '../process/clock.ts';
import { sealAll } from '../store/seal-all.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface SealDirectoryDeps {
  readonly store: Pick<Store, 'sealings' | 'outbox'>;
  readonly seals: RecordSeals;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Seals the records that earlier builds made, and says so on the directory stream: from then on a record without a seal
 * is refused. A store that one process has for itself cannot be written by earlier builds any more, and is sealed at
 * once. Beside other processes, which may be of the earlier build, that waits until an operator asks for it (keyring
 * rewrap), unless there is nothing to seal.
 */
export async function sealDirectory({ store, seals, clock, log }: SealDirectoryDeps): Promise<void> {
  if (seals.isRequired) return store.sealings.require();
  const unsealed = (await store.sealings.recordCounts()).find(({ keyId }) => keyId === null)?.records ?? 0;
  const isAlone = (await store.outbox.timeline()) === null;
  if (unsealed > 0 && !isAlone) {
    log.warn(
      { event: 'directory_not_sealed', records: unsealed },
      'merchants and endpoints without a seal are accepted: once every process runs this version, run hookrail operator keyring rewrap',
    );
    return;
  }
  const { sealed, refused } = await sealAll(store.sealings);
  await store.sealings.complete(clock.wall());
  seals.require();
  if (refused.length > 0)
    log.error(
      { event: 'directory_records_left', records: refused.slice(0, 10) },
      'records that do not fit their seal are not in force',
    );
  if (sealed > 0)
    log.info(
      { event: 'directory_sealed', records: sealed },
      'sealed the merchants and endpoints of earlier builds',
    );
}
