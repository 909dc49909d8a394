import { Way } from '../parts/screen.tsx';
import { foreign } from '../parts/text.tsx';
import { shortId } from '../parts/words.ts';
import { useCommand } from './api.ts';

/** A merchant by its name; the beginning of its id where there is none of this id. `none`: stands for no merchant. */
export function MerchantName({ id, none = '–' }: { readonly id: string | null; readonly none?: string }) {
  const { data } = useCommand('merchants-list');
  const name = data?.find(({ merchantId }) => merchantId === id)?.name;
  if (id === null) return none;
  if (name === undefined)
    return <span title={id}>{data === undefined ? shortId(id) : `${shortId(id)} (unknown)`}</span>;
  return (
    <Way to={`/merchants/${id}`} title={id}>
      {foreign(name)}
    </Way>
  );
}

/** Names the key that published an event, by its name, else its hint; anything that is no key stays as it is. */
export function ProducerName({ publishedBy }: { readonly publishedBy: string | null | undefined }) {
  const { data } = useCommand('keys-list');
  if (publishedBy == null) return 'a producer that was not noted';
  const key = data?.find(({ keyId }) => keyId === publishedBy);
  return <span title={publishedBy}>{foreign(key ? (key.name ?? `key ${key.hint}`) : publishedBy)}</span>;
}
