import { Foreign } from '../../parts/foreign.tsx';
import { Time } from '../../parts/time.tsx';
import { MerchantName } from '../parts/names.tsx';
import { Table } from '../parts/table.tsx';
import type { Change } from '../shapes.ts';

/** Changes with who made them, newest first; `isOfAll`: of several merchants. */
export function Changes({
  list,
  isOfAll = false,
}: {
  readonly list: readonly Change[];
  readonly isOfAll?: boolean;
}) {
  if (list.length === 0) return <p>There is no change.</p>;
  const columns = ['When', 'What', 'Who', ...(isOfAll ? ['Merchant'] : []), 'Reason', 'Details'];
  return (
    <Table label="Changes" columns={columns}>
      {list.map(({ at, action, merchantId, details, cursor, ...by }) => {
        const { reason, ...others } = details;
        return (
          <tr key={cursor}>
            <td>
              <Time at={at} />
            </td>
            <th scope="row">{action}</th>
            <td>
              <Foreign text={whoIn(by)} />
            </td>
            {isOfAll ? <td>{merchantId === null ? '–' : <MerchantName id={merchantId} />}</td> : null}
            <td>
              <Foreign text={typeof reason === 'string' ? reason : '–'} />
            </td>
            <td className="details">
              <Foreign text={Object.keys(others).length === 0 ? '' : JSON.stringify(others)} />
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

/** Returns the person, else the key, else the kind of the one who did it. */
function whoIn({
  person,
  keyName,
  key,
  actor,
}: Pick<Change, 'person' | 'keyName' | 'key' | 'actor'>): string {
  return person ?? keyName ?? key ?? actor;
}
