import { API_VERSIONS } from '../../services/domain/endpoint.ts';
import { compareBodies, isDifferent } from '../../services/domain/versions/body-differences.ts';
import { Table } from './screen.tsx';
import { foreign } from './text.tsx';

const [OLDER, NEWER] = API_VERSIONS;

/** One event as both versions write it: the fields that differ, or all where none does. */
export function Differences({ older, newer }: { readonly older: string; readonly newer: string }) {
  const fields = compareBodies(older, newer);
  const differing = fields.filter(isDifferent);
  const isSame = differing.length === 0;
  return (
    <>
      <p>
        {isSame
          ? 'The two bodies are the same.'
          : `${differing.length} of ${fields.length} fields differ; the others are the same.`}
      </p>
      <Table
        label="Fields in both versions"
        className={isSame ? 'versions' : 'versions differs'}
        rows={isSame ? fields : differing}
        keyOf={({ path }) => path}
        columns={{
          field: ({ path }) => foreign(path),
          [OLDER]: (field) => <Value text={field.older} />,
          [NEWER]: (field) => <Value text={field.newer} />,
        }}
      />
    </>
  );
}

function Value({ text }: { readonly text: string | undefined }) {
  return text === undefined ? 'no such field' : <code>{foreign(text)}</code>;
}
