import { API_VERSIONS } from '../../../services/domain/endpoint.ts';
import { compareBodies, isDifferent } from '../../../services/domain/versions/body-differences.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { JsonText } from '../../parts/json-text.tsx';
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
      <table className="versions">
        <thead>
          <tr>
            <th scope="col">field</th>
            <th scope="col">{OLDER}</th>
            <th scope="col">{NEWER}</th>
          </tr>
        </thead>
        <tbody>
          {(differing.length === 0 ? fields : differing).map((field) => (
            <tr key={field.path} className={isDifferent(field) ? 'differs' : undefined}>
              <th scope="row">
                <Foreign text={field.path} />
              </th>
              {[field.older, field.newer].map((value, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the versions never move
                <td key={index}>{value === undefined ? 'no such field' : <Value text={value} />}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Value({ text }: { readonly text: string }) {
  return (
    <code>
      <Foreign text={text} />
    </code>
  );
}
