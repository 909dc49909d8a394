import { Foreign } from '../../parts/foreign.tsx';
import { Shown } from '../../parts/shown.tsx';
import { useTitle } from '../../parts/title.ts';
import { useCommand } from '../api.ts';
import { Table } from '../parts/table.tsx';
import { Way } from '../parts/way.tsx';
import type { Merchant } from '../shapes.ts';
import { MerchantState } from './merchant-state.tsx';

/** Every merchant; those on hold come first. */
export function MerchantsPage() {
  useTitle('Merchants');
  const merchants = useCommand<readonly Merchant[]>('merchants-list');
  return (
    <section className="panel">
      <h1>Merchants</h1>
      <Shown query={merchants}>
        {(list) =>
          list.length === 0 ? (
            <p>
              There is none yet: <code>hookrail operator merchants create --name &lt;name&gt;</code> makes
              one.
            </p>
          ) : (
            <Table label="Merchants" columns={['Name', 'State', 'Id']}>
              {[...list]
                .sort(
                  (one, other) => other.state.localeCompare(one.state) || one.name.localeCompare(other.name),
                )
                .map(({ merchantId, name, state }) => (
                  <tr key={merchantId}>
                    <th scope="row">
                      <Way to={`/merchants/${merchantId}`}>
                        <Foreign text={name} />
                      </Way>
                    </th>
                    <td>
                      <MerchantState state={state} />
                    </td>
                    <td>
                      <code>{merchantId}</code>
                    </td>
                  </tr>
                ))}
            </Table>
          )
        }
      </Shown>
    </section>
  );
}
