import { Button, Field } from '../../parts/controls.tsx';
import { Screen, Shown, Table, Way } from '../../parts/screen.tsx';
import { Countdown, Status, Time } from '../../parts/text.tsx';
import { shortId } from '../../parts/words.ts';
import { type Page, useCommand, useFilters } from '../api.ts';
import { MerchantName } from '../names.tsx';
import type { Delivery } from '../shapes.ts';

const STATUSES = ['pending', 'failed', 'delivered', 'exhausted', 'cancelled', 'refused'];
const EVERY_MS = 5000;
const PAGE = 100;

/** The newest deliveries of all merchants, or those that the address narrows them to. */
export function DeliveriesPage() {
  const [filters, set] = useFilters();
  const { status, merchant, endpoint } = filters;
  const given = { limit: PAGE, status, merchant, endpoint };
  const page = useCommand<Page<Delivery>>('deliveries-list', given, { everyMs: EVERY_MS });
  const statuses = [['', 'all'] as const, ...STATUSES];
  return (
    <Screen title="Deliveries">
      <div className="row act">
        <Field label="Status" value={status ?? ''} options={statuses} onChange={(to) => set('status', to)} />
        {(['merchant', 'endpoint'] as const).map((name) =>
          filters[name] === undefined ? null : (
            <Button kind="copy" key={name} onClick={() => set(name, '')}>
              {name} {shortId(filters[name])} ✕
            </Button>
          ),
        )}
      </div>
      <Shown query={page}>
        {({ items }) => (
          <Table
            label="Deliveries"
            none="There is none."
            rows={items}
            keyOf={({ deliveryId }) => deliveryId}
            names="Delivery"
            columns={[
              ['Made', ({ createdAt }) => <Time at={createdAt} />],
              [
                'Delivery',
                ({ deliveryId, type, subType }) => (
                  <Way to={`/deliveries/${deliveryId}`}>{`${type}/${subType}`}</Way>
                ),
              ],
              ['Merchant', ({ merchantId }) => <MerchantName id={merchantId} />],
              [
                'Endpoint',
                ({ endpointId }) => (
                  <Way to="/deliveries" search={{ endpoint: endpointId }} title={endpointId}>
                    {shortId(endpointId)}
                  </Way>
                ),
              ],
              ['Status', (each) => <Status of={each.status} />],
              ['Last answer', (each) => each.lastResponseStatus ?? each.lastFailureCode ?? '–'],
              ['Next attempt', ({ nextAttemptAt: next }) => (next === null ? '–' : <Countdown to={next} />)],
            ]}
          />
        )}
      </Shown>
    </Screen>
  );
}
