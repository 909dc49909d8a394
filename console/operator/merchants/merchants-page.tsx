import { ReadTable, Screen, Way } from '../../parts/screen.tsx';
import { foreign, Outcome } from '../../parts/text.tsx';
import { inWords } from '../../parts/words.ts';
import { useCommand } from '../api.ts';
import type { Merchant } from '../shapes.ts';

/** Orders those on hold before the others, and those of one state by name. */
function byState(one: Merchant, other: Merchant): number {
  return other.state.localeCompare(one.state) || one.name.localeCompare(other.name);
}

/** Every merchant; those on hold come first. */
export function MerchantsPage() {
  const merchants = useCommand('merchants-list');
  return (
    <Screen title="Merchants">
      <ReadTable
        label="Merchants"
        none={
          <>
            There is none yet: <code>hookrail operator merchants create --name &lt;name&gt;</code> makes one.
          </>
        }
        query={merchants}
        rowsOf={(list) => list.toSorted(byState)}
        keyOf={({ merchantId }) => merchantId}
        columns={{
          name: ({ merchantId, name }) => <Way to={`/merchants/${merchantId}`}>{foreign(name)}</Way>,
          state: ({ state }) => <MerchantState state={state} />,
          id: ({ merchantId }) => <code>{merchantId}</code>,
        }}
      />
    </Screen>
  );
}

/** The state of a merchant; one that is paused is on hold. */
export function MerchantState({ state }: { readonly state: string }) {
  return (
    <Outcome tone={state === 'active' ? 'good' : 'wait'}>
      {state === 'paused' ? 'on hold' : inWords(state)}
    </Outcome>
  );
}
