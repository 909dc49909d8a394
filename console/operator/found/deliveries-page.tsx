import { inWords, Outcome, toneOf } from '../../parts/outcome.tsx';
import { shortId } from '../../parts/short-id.ts';
import { Shown } from '../../parts/shown.tsx';
import { Countdown, Time } from '../../parts/time.tsx';
import { useTitle } from '../../parts/title.ts';
import { useCommand } from '../api.ts';
import { useFilters } from '../parts/address.ts';
import { MerchantName } from '../parts/names.tsx';
import { Table } from '../parts/table.tsx';
import { Way } from '../parts/way.tsx';
import type { Delivery } from '../shapes.ts';

const STATUSES = ['pending', 'failed', 'delivered', 'exhausted', 'cancelled', 'refused'];
const EVERY_MS = 5000;
const PAGE = 100;

/** The newest deliveries of all merchants, or those that the address narrows them to. */
export function DeliveriesPage() {
  useTitle('Deliveries');
  const [filters, set] = useFilters();
  const { status = '', merchant, endpoint } = filters;
  const page = useCommand<{ readonly items: readonly Delivery[] }>(
    'deliveries-list',
    {
      limit: PAGE,
      ...(status === '' ? {} : { status }),
      ...(merchant === undefined ? {} : { merchant }),
      ...(endpoint === undefined ? {} : { endpoint }),
    },
    { everyMs: EVERY_MS },
  );
  return (
    <section className="panel">
      <h1>Deliveries</h1>
      <p className="act">
        <label>
          Status{' '}
          <select value={status} onChange={(event) => set('status', event.target.value)}>
            <option value="">all</option>
            {STATUSES.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        {(['merchant', 'endpoint'] as const).map((name) =>
          filters[name] === undefined ? null : (
            <button key={name} type="button" className="copy" onClick={() => set(name, '')}>
              {name} {shortId(filters[name])} ✕
            </button>
          ),
        )}
      </p>
      <Shown query={page}>
        {({ items }) =>
          items.length === 0 ? (
            <p>There is none.</p>
          ) : (
            <Table
              label="Deliveries"
              columns={['Made', 'Delivery', 'Merchant', 'Endpoint', 'Status', 'Last answer', 'Next attempt']}
            >
              {items.map((each) => (
                <Row key={each.deliveryId} each={each} />
              ))}
            </Table>
          )
        }
      </Shown>
    </section>
  );
}

function Row({ each }: { readonly each: Delivery }) {
  return (
    <tr>
      <td>
        <Time at={each.createdAt} />
      </td>
      <th scope="row">
        <Way to={`/deliveries/${each.deliveryId}`}>
          {each.type}/{each.subType}
        </Way>
      </th>
      <td>
        <MerchantName id={each.merchantId} />
      </td>
      <td>
        <Way to="/deliveries" search={{ endpoint: each.endpointId }} title={each.endpointId}>
          {shortId(each.endpointId)}
        </Way>
      </td>
      <td>
        <Outcome tone={toneOf(each.status)}>{inWords(each.status)}</Outcome>
      </td>
      <td>{each.lastResponseStatus ?? each.lastFailureCode ?? '–'}</td>
      <td>{each.nextAttemptAt === null ? '–' : <Countdown to={each.nextAttemptAt} />}</td>
    </tr>
  );
}
