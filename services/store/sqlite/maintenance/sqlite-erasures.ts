import { unpurged } from '../../../sqlite/purge.ts';
import { CursorInvalid } from '../../change.ts';
import type { Erasures } from '../../maintenance.ts';
import type { ReaderOps } from '../reader.ts';
import type { ThreadCalls } from '../thread-calls.ts';
import type { WriterOps } from '../writer.ts';
import { copiesOf, noteInCopies } from './known-copies.ts';

/** Rows changed in one transaction: few, so that no commit waits long. */
const REMOVED_AT_ONCE = 200;

interface Deps {
  readonly file: string;
  readonly reader: ThreadCalls<ReaderOps>;
  readonly writer: ThreadCalls<WriterOps>;
  readonly watched: <T>(written: Promise<T>) => Promise<T>;
}

/** Walks the events, then the deliveries: the reader finds an entity's, the writer removes their bodies. */
export function sqliteErasures({
  file,
  reader,
  writer,
  watched,
}: Deps): Pick<Erasures, 'noteInBackups' | 'purge' | 'step'> {
  return {
    async noteInBackups(erasureId) {
      const erased = await reader.call('erasureOrder', [erasureId]);
      if (erased === undefined) return [];
      return noteInCopies(copiesOf(file, await reader.call('backups', [])), erased);
    },
    async purge() {
      const isWhole = await watched(writer.call('purge', []));
      return isWhole ? [] : [unpurged('store.db')];
    },
    async step(erasureId, after = 'event:0') {
      const [, table, from] = /^(event|delivery):(\d{1,15})$/.exec(after) ?? [];
      if (table !== 'event' && table !== 'delivery')
        throw new CursorInvalid('the cursor does not belong to an erasure');
      const found = await reader.call('erasedBodies', [erasureId, table, Number(from)]);
      let removed = 0;
      for (let first = 0; first < found.seqs.length; first += REMOVED_AT_ONCE) {
        const seqs = found.seqs.slice(first, first + REMOVED_AT_ONCE);
        removed += await watched(writer.call('removeBodies', [table, seqs, found.at, null]));
      }
      const counts = { events: 0, deliveries: 0, [table === 'event' ? 'events' : 'deliveries']: removed };
      if (!found.isDone) return { ...counts, next: `${table}:${found.reached}` };
      return { ...counts, next: table === 'event' ? 'delivery:0' : null };
    },
  };
}
