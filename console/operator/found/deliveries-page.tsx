import { Button, Field } from '../../parts/controls.tsx';
import { ReadTable, Screen, Way } from '../../parts/screen.tsx';
import { Countdown, Status, Time } from '../../parts/text.tsx';
import { shortId } from '../../parts/words.ts';
import { useCommand, useFilters } from '../api.ts';
import { MerchantName } from '../names.tsx';

const STATUSES = ['pending', 'failed', 'delivered', 'exhausted', 'cancelled', 'refused'];
const EVERY_MS = 5000;
const PAGE = 100;

/** The newest deliveries of all merchants, or those that the address narrows them to. */
export function DeliveriesPage() {
  const [filters, set] = useFilters();
  const { status, merchant, endpoint } = filters;
  const given = { limit: PAGE, status, merchant, endpoint };
  const page = useCommand('deliveries-list', given, EVERY_MS);
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
      <ReadTable
        label="Deliveries"
        none="There is none."
        query={page}
        rowsOf={({ items }) => items}
        keyOf={({ deliveryId }) => deliveryId}
        names="delivery"
        columns={{
          made: ({ createdAt }) => <Time at={createdAt} />,
          delivery: ({ deliveryId, type, subType }) => (
            <Way to={`/deliveries/${deliveryId}`}>{`${type}/${subType}`}</Way>
          ),
          merchant: ({ merchantId }) => <MerchantName id={merchantId} />,
          endpoint: ({ endpointId }) => (
            <Way to="/deliveries" search={{ endpoint: endpointId }} title={endpointId}>
              {shortId(endpointId)}
            </Way>
          ),
          status: (each) => <Status of={each.status} />,
          'last answer': (each) => each.lastResponseStatus ?? each.lastFailureCode ?? '–',
          'next attempt': ({ nextAttemptAt: next }) => (next === null ? '–' : <Countdown to={next} />),
        }}
      />
    </Screen>
  );
}
