import { startOfList } from '../../log/list-cursor.ts';
import { EVERYBODY, type Examined, ListPages, type ListStep } from '../../log/list-pages.ts';
import type { DeliveryPage, EventPage, MerchantLists } from '../../store.ts';
import type { ReaderOps } from '../reader.ts';
import type { ThreadCalls } from '../thread-calls.ts';
import type { Keyed, SqliteExamined } from './examine.ts';

type DeliveryOptions = Parameters<MerchantLists['deliveries']>[1];
type EventOptions = Parameters<MerchantLists['events']>[1];

/** The lists on the main thread: each step of a page is a call of its own, so that other reads come between them. */
export class SqliteLists implements MerchantLists {
  readonly #reader: ThreadCalls<ReaderOps>;
  /** There is one reader, and another step would only wait in its queue, before other reads. */
  readonly #pages = new ListPages({ atOnce: 1, step: 1000 });

  constructor(reader: ThreadCalls<ReaderOps>) {
    this.#reader = reader;
  }

  deliveries(merchantId: string | null, options: DeliveryOptions): Promise<DeliveryPage> {
    return this.#page(merchantId, options, (step, isListed) =>
      this.#reader.call('examineDeliveries', [merchantId, options, { ...step, isListed }]),
    );
  }

  events(merchantId: string | null, options: EventOptions): Promise<EventPage> {
    return this.#page(merchantId, options, (step, isListed) =>
      this.#reader.call('examineEvents', [merchantId, options, { ...step, isListed }]),
    );
  }

  async #page<Listed>(
    merchantId: string | null,
    options: { readonly limit: number; readonly after?: string; readonly until?: number },
    examine: (step: ListStep, isListed: boolean) => Promise<SqliteExamined<Listed>>,
  ): Promise<{ readonly records: readonly Listed[]; readonly next: string | null }> {
    const start = startOfList(options);
    const keyOf = ({ createdAt, seq }: Keyed<Listed>) => ({ createdAt, seq });
    let isListed = false;
    const page = await this.#pages.page<Keyed<Listed>>(
      { merchantId: merchantId ?? EVERYBODY, start, limit: options.limit, keyOf },
      async (step): Promise<Examined<Keyed<Listed>>> => {
        const examined = await examine(step, isListed);
        isListed = examined.isListed;
        return examined;
      },
    );
    return { records: page.rows.map(({ record }) => record), next: page.next };
  }
}
