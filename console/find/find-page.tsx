import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useParams } from '@tanstack/react-router';
import { lookUpQuery } from '../api/reads.ts';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Loading } from '../parts/loading.tsx';
import { inWords } from '../parts/outcome.tsx';
import { Sentence } from '../parts/sentence.tsx';
import { useTitle } from '../parts/title.ts';
import { placeOf } from './places.ts';

const EXAMPLES: readonly (readonly [what: string, says: string])[] = [
  ['A transaction, an account, a user', 'everything that happened to it, and what each endpoint has of it'],
  ['An event', 'which endpoints got it, and why the others did not'],
  ['A delivery', 'each attempt: what was sent, and what your server answered'],
  ['An endpoint, a replay, a request id', 'what it is'],
];

/** The screen before anything is looked up. */
export function FindPage() {
  useTitle('Find');
  return (
    <section className="panel">
      <h1>Find</h1>
      <p>Paste any id that you have met into the field above, and press Enter.</p>
      <dl className="pairs">
        {EXAMPLES.map(([what, says]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{says}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Lists the things that have an id. When there is one, and it has a screen, opens that screen. */
export function FoundPage() {
  const { id } = useParams({ from: '/find/$id' });
  useTitle(`Find ${id}`);
  const { data, error, refetch } = useQuery(lookUpQuery(id));
  if (error) return <ErrorPanel error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  const [first, ...others] = data.found;
  const only = others.length === 0 && first ? placeOf(first.path) : undefined;
  if (only) return <Navigate {...only} replace />;
  return (
    <section className="panel">
      <h1>
        <code>
          <Foreign text={id} />
        </code>
      </h1>
      <ul className="found">
        {data.found.map(({ kind, summary, path }) => (
          <li key={path}>
            <span className="chip">{inWords(kind)}</span> <Sentence text={summary} /> <Way path={path} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Way({ path }: { readonly path: string }) {
  const place = placeOf(path);
  return place === undefined ? <code>GET {path}</code> : <Link {...place}>Show</Link>;
}
