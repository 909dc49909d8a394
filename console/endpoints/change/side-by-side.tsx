import { API_VERSIONS } from '../../../services/domain/endpoint.ts';
import { compareBodies, isDifferent } from '../../../services/domain/versions/body-differences.ts';
import { JsonText } from '../../parts/json-text.tsx';
import { Table } from '../../parts/screen.tsx';
import { foreign } from '../../parts/text.tsx';
import type { TwoBodies } from '../endpoint-reads.ts';

const [OLDER, NEWER] = API_VERSIONS;

/** One event in both versions: the fields that differ, then both bodies. */
export function SideBySide({ bodies: { older, newer } }: { readonly bodies: TwoBodies }) {
  if (older === null)
    return (
      <>
        <p>
          {OLDER} does not have this event: an endpoint of {OLDER} is not sent it.
        </p>
        <JsonText text={newer} what={`the body in ${NEWER}`} />
      </>
    );
  const fields = compareBodies(older, newer);
  const differing = fields.filter(isDifferent);
  return (
    <>
      <p>
        {differing.length === 0
          ? 'The two bodies are the same.'
          : `${differing.length} of ${fields.length} fields differ; the others are the same.`}
      </p>
      <Table
        label="Fields in both versions"
        className={differing.length === 0 ? 'versions' : 'versions differs'}
        rows={differing.length === 0 ? fields : differing}
        keyOf={({ path }) => path}
        columns={[
          ['field', ({ path }) => foreign(path)],
          [OLDER, (field) => <Value text={field.older} />],
          [NEWER, (field) => <Value text={field.newer} />],
        ]}
      />
    </>
  );
}

function Value({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return 'no such field';
  return <code>{foreign(text)}</code>;
}
