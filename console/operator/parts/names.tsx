import { Foreign } from '../../parts/foreign.tsx';
import { shortId } from '../../parts/short-id.ts';
import { useCommand } from '../api.ts';
import type { Merchant } from '../shapes.ts';
import { Way } from './way.tsx';

/** A merchant by its name; the beginning of its id where there is none of this id. */
export function MerchantName({ id }: { readonly id: string }) {
  const { data } = useCommand<readonly Merchant[]>('merchants-list');
  const name = data?.find(({ merchantId }) => merchantId === id)?.name ?? shortId(id);
  return (
    <Way to={`/merchants/${id}`} title={id}>
      <Foreign text={name} />
    </Way>
  );
}
