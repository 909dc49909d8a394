import { useId, useState } from 'react';
import { API_VERSIONS } from '../../../services/domain/endpoint.ts';
import {
  type ComparedField,
  compareBodies,
  isDifferent,
} from '../../../services/domain/versions/body-differences.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import type { TwoBodies } from '../endpoint-reads.ts';

const [OLDER, NEWER] = API_VERSIONS;

/** One event in both versions, field by field; what differs is marked. */
export function SideBySide({ bodies: { older, newer } }: { readonly bodies: TwoBodies }) {
  const [isWhole, setWhole] = useState(false);
  const box = useId();
  if (newer === null) return null;
  if (older === null) {
    return (
      <>
        <p>
          {OLDER} does not have this event: an endpoint of {OLDER} is not sent it.
        </p>
        <JsonText text={newer} what={`the body in ${NEWER}`} />
      </>
    );
  }
  const fields = compareBodies(older, newer);
  const differing = fields.filter(isDifferent);
  const shown = isWhole ? fields : differing;
  return (
    <>
      <p>
        {differing.length === 0
          ? 'The two bodies are the same.'
          : `${differing.length} of ${fields.length} fields differ.`}
      </p>
      <p>
        <input
          id={box}
          type="checkbox"
          checked={isWhole}
          onChange={({ target }) => setWhole(target.checked)}
        />{' '}
        <label htmlFor={box}>Also the fields that are the same</label>
      </p>
      {shown.length === 0 ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
        <section className="scroll" tabIndex={0} aria-label="The fields in both versions">
          <table className="versions">
            <thead>
              <tr>
                <th scope="col">field</th>
                <th scope="col">{OLDER}</th>
                <th scope="col">{NEWER}</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((field) => (
                <Row key={field.path} field={field} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

function Row({ field }: { readonly field: ComparedField }) {
  const mark = isDifferent(field) ? 'differs' : undefined;
  return (
    <tr className={mark}>
      <th scope="row">
        <Foreign text={field.path} /> {mark === undefined ? null : <span className="chip">differs</span>}
      </th>
      <Value text={field.older} />
      <Value text={field.newer} />
    </tr>
  );
}

function Value({ text }: { readonly text: string | undefined }) {
  return (
    <td>
      {text === undefined ? (
        <span className="note">no such field</span>
      ) : (
        <code>
          <Foreign text={text} />
        </code>
      )}
    </td>
  );
}
