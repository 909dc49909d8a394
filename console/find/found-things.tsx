import { Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Panel, Way } from '../parts/screen.tsx';
import { foreign, Sentence } from '../parts/text.tsx';
import { inWords } from '../parts/words.ts';

interface Thing {
  readonly kind: string;
  /** A description in a few words, and more behind it. */
  readonly says: string;
  readonly more?: ReactNode;
  /** The address of its screen, where it has one. */
  readonly place: string | undefined;
}

/** Lists the things that have an id. When there is one, and it has a screen, opens that screen. */
export function FoundThings({ id, things }: { readonly id: string; readonly things: readonly Thing[] }) {
  const [first, ...others] = things;
  if (first?.place !== undefined && others.length === 0)
    return <Navigate to={first.place as never} replace />;
  return (
    <Panel heading="h1" title={<code>{foreign(id)}</code>}>
      <ul className="found">
        {things.map(({ kind, says, more, place }) => (
          <li key={`${kind} ${place} ${says}`}>
            <span className="chip">{inWords(kind)}</span> <Sentence text={says} /> {more}{' '}
            {place === undefined ? null : <Way to={place}>Show</Way>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
