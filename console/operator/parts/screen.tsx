import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Loading } from '../../parts/loading.tsx';

interface Props<Data> {
  readonly of: UseQueryResult<Data, Error>;
  readonly children: (data: Data) => ReactNode;
}

/** Shows what was read; when it cannot be read, why, beside what was read before. */
export function Read<Data>({ of: { data, error, refetch }, children }: Props<Data>) {
  return (
    <>
      {error ? <ErrorPanel error={error} retry={() => void refetch()} /> : null}
      {data === undefined ? error ? null : <Loading /> : children(data)}
    </>
  );
}

/** A heading and what belongs below it. */
export function Panel({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="panel">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
