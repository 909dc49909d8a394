import type { ReactNode } from 'react';
import { Foreign } from '../parts/foreign.tsx';

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

/** The warnings in a response of the API. */
export function Warnings({ all = [] }: { readonly all: readonly { readonly detail: string }[] | undefined }) {
  return all.map(({ detail }) => (
    <p key={detail} className="warning">
      <Foreign text={detail} />
    </p>
  ));
}
