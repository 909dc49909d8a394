import type { Broker } from '../broker/broker.ts';
import type { SourceAddress } from '../config/well-known/source-addresses.ts';
import type { Directory } from '../domain/directory.ts';
import type { Clock } from '../process/clock.ts';
import type { Store } from '../store/store.ts';

/** The dependencies of the looks for causes of notices. */
export interface CauseDeps {
  readonly store: Pick<Store, 'notices'>;
  readonly broker: Pick<Broker, 'status' | 'quarantine' | 'losses'>;
  readonly directory: Pick<Directory, 'merchant'>;
  readonly clock: Clock;
  readonly sources: readonly SourceAddress[];
}
