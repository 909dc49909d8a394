import type { ReactNode } from 'react';
import { Pairs } from '../parts/screen.tsx';
import { foreign } from '../parts/text.tsx';

/** Facts in a row, by their names. */
export function Numbers({ all }: { readonly all: Readonly<Record<string, ReactNode>> }) {
  return <Pairs className="row numbers" all={Object.entries(all).map(([name, says]) => ({ name, says }))} />;
}

/** The warnings in a response of the API. */
export function Warnings({ all = [] }: { readonly all: readonly { readonly detail: string }[] | undefined }) {
  return all.map(({ detail }) => (
    <p key={detail} className="warning">
      {foreign(detail)}
    </p>
  ));
}
