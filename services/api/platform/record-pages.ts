import type { ListOptions, RecordStore } from '../../broker/broker.ts';
import { asked } from '../context.ts';
import { cursorInvalid, decodeCursor, encodeCursor, page } from '../pagination.ts';
import { PAGE_DEFAULT } from '../routes/read-endpoints.ts';

/** Returns a page of records that the broker keeps for operators, oldest first. Clients see positions in cursors. */
export async function recordPage<Record, Item>(
  records: Pick<RecordStore<Record>, 'list'>,
  query: URLSearchParams,
  {
    matches,
    itemOf,
  }: {
    readonly matches: NonNullable<ListOptions<Record>['matches']>;
    readonly itemOf: (position: string, record: Record) => Item;
  },
) {
  const limit = Number(query.get('limit') ?? PAGE_DEFAULT);
  const after = decodeCursor(query.get('cursor'), (position) => position);
  const options = { limit: limit + 1, matches, ...(after === undefined ? {} : { after }) };
  const found = await asked(records.list(options)).catch((error: unknown) => {
    throw error instanceof RangeError ? cursorInvalid() : error;
  });
  const { data, ...rest } = page(found, limit, ({ position }) => encodeCursor(position));
  return { data: data.map(({ position, record }) => itemOf(position, record)), ...rest };
}
