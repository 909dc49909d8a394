import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Loading } from '../parts/loading.tsx';

interface ShownProps<Data> {
  readonly query: UseQueryResult<Data>;
  readonly children: (data: Data) => ReactNode;
}

/** Shows what was read; before, that it is read; and a refusal. */
export function Shown<Data>({ query: { data, error, refetch }, children }: ShownProps<Data>) {
  return (
    <>
      {error ? <ErrorPanel error={error} retry={() => void refetch()} /> : null}
      {data === undefined ? error ? null : <Loading /> : children(data)}
    </>
  );
}

/** Facts in a row, by their names. */
export function Numbers({ all }: { readonly all: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="numbers">
      {Object.entries(all).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What the API warns of. */
export function Warnings({ all = [] }: { readonly all: readonly { readonly detail: string }[] | undefined }) {
  return all.map(({ detail }) => (
    <p key={detail} className="warning">
      <Foreign text={detail} />
    </p>
  ));
}
