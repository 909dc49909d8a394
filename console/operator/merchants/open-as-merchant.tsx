import { useMutation } from '@tanstack/react-query';
import { useSession } from '../../api/session.ts';
import { Copy } from '../../parts/copy.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { command } from '../api.ts';

const MINUTES = 5;

/** Makes a link to the console as the merchant sees it, which changes nothing. */
export function OpenAsMerchant({ id }: { readonly id: string }) {
  const person = useSession()?.person;
  const { mutate, data, isPending, error } = useMutation({
    mutationFn: () =>
      command<{ readonly url: string }>('portal-link', {
        ...{ merchant: id, readOnly: true, minutes: MINUTES },
        person: `operator ${person}`,
      }),
  });
  if (data !== undefined)
    return (
      <p>
        <a href={data.url} target="_blank" rel="noreferrer">
          Open the merchant's console
        </a>{' '}
        <Copy text={data.url} what="the link" />{' '}
        <span className="note">Read-only, works once, within five minutes.</span>
      </p>
    );
  return (
    <>
      <p>
        <button type="button" disabled={isPending} onClick={() => mutate()}>
          Look as the merchant
        </button>{' '}
        <span className="note">Makes a read-only link to its console; the audit has it.</span>
      </p>
      {error ? <ErrorPanel error={error} /> : null}
    </>
  );
}
