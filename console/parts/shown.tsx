import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorPanel } from './error-panel.tsx';
import { Loading } from './loading.tsx';

interface Props<Data> {
  readonly query: UseQueryResult<Data, Error>;
  readonly children: (data: Data) => ReactNode;
}

/** Shows the data of a read, and that it is loading before; an error stands above the data that was read last. */
export function Shown<Data>({ query: { data, error, refetch }, children }: Props<Data>) {
  return (
    <>
      {error ? <ErrorPanel error={error} retry={() => void refetch()} /> : null}
      {data === undefined ? error ? null : <Loading /> : children(data)}
    </>
  );
}
