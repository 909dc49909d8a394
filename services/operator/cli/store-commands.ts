import type { Config } from '../../config/config.ts';
import { auditOf } from '../../management/audit.ts';
import { messageOf } from '../../messages/error-message.ts';
import { plain, WIDTH } from '../../messages/text-layout.ts';
import { systemClock } from '../../process/clock.ts';
import { on, type ToolMeans } from '../commands/command.ts';
import { finishOffline } from '../commands/erase-entity.ts';
import { OperatorError } from '../commands/operator-error.ts';
import { withStore } from './ask.ts';

/** Commands on the files or the database of a store. */

export const STORE_COMMANDS = {
  'store restore': on('tool', {
    describe: 'Replace the store with a backup; the service must be stopped',
    args: { from: { type: 'path', required: true, positional: true, describe: 'A backup of the store' } },
    runs: 'here, while the service is stopped',
    run: (means, { from }) => refused(() => restored(means, from)),
    text: ({ restored: file, from, keptAs, erasedAgain, note }) => {
      const kept = keptAs === null ? '' : `; the previous store is kept as ${keptAs}`;
      const erased =
        erasedAgain === 0 ? [] : [`erased again what was erased after the backup: ${erasedAgain} orders`];
      return plain.fold([`restored ${file} from ${from}${kept}`, ...erased, note].join('\n'), WIDTH);
    },
  }),
  'store migrate': on('tool', {
    describe: 'Bring a database on PostgreSQL to the layout of this build, while the service runs',
    runs: 'here, on the database',
    run: (means) => refused(() => migrated(means)),
    text: ({ from, to }) =>
      from === to ? `the database has layout ${to} already` : `migrated from layout ${from} to ${to}`,
  }),
  'store vacuum': on('tool', {
    describe:
      'Write the store anew, without what was deleted and erased; on SQLite the service must be stopped',
    runs: 'here; on SQLite while the service is stopped',
    run: (means) => refused(() => vacuumed(means)),
    text: ({ written }) =>
      written.length === 0
        ? 'there is nothing to write anew'
        : plain.fold(`written anew: ${written.join(', ')}`, WIDTH),
  }),
};

/** Tells a refusal of the store or the broker as one of the command. */
async function refused<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new OperatorError(messageOf(error));
  }
}

async function restored({ config, actor }: ToolMeans, from: string) {
  const { restoreStore } = await import('../../store/open.ts');
  const { file, keptAs } = restoreStore(config(), from, systemClock().wall());
  const erasedAgain = await withStore(config(), async (store, clock) => {
    const deps = { store, clock, actor: actor() };
    await auditOf(deps)('store.restore', { from, keptAs });
    return finishOffline(deps);
  });
  const note = 'API keys that were revoked after the backup are valid again: check keys list';
  return { restored: file, from, keptAs, erasedAgain, note };
}

async function migrated(means: ToolMeans) {
  const { migrateStore } = await import('../../store/open.ts');
  const { from, to } = await migrateStore(means.config(), systemClock());
  // A new database has no audit yet, and stays empty: a copy fills none that has rows.
  if (from > 0 && from !== to) await record(means, 'store.migrate', { from, to });
  return { from, to };
}

async function vacuumed(means: ToolMeans) {
  const { vacuumStore } = await import('../../store/open.ts');
  const { vacuumBroker } = await import('../../broker/open.ts');
  const config: Config = means.config();
  const stored = await vacuumStore(config, systemClock());
  const written = [...stored, vacuumBroker(config)].filter((name) => name !== null);
  // Where no store was written anew there may be none, and opening it would make one.
  if (stored.length > 0) await record(means, 'store.vacuum', { written });
  return { written };
}

/** Adds to the audit of the store that the command has made, once it can be opened. */
function record({ config, actor }: ToolMeans, action: string, details: Readonly<Record<string, unknown>>) {
  return withStore(config(), (store, clock) => auditOf({ store, clock, actor: actor() })(action, details));
}
