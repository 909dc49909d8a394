import { fieldsOf } from '../../services/domain/catalog/catalog.ts';
import type { Field } from '../../services/domain/catalog/field.ts';
import { API_VERSIONS } from '../../services/domain/endpoint.ts';
import type { EventType } from '../../services/domain/event.ts';
import { Marked } from './marked.tsx';

interface Row {
  readonly path: string;
  readonly field: Field;
}

function rowsOf(fields: readonly Field[], above: string): readonly Row[] {
  return fields.flatMap((field) => {
    const path = `${above}.${field.name}`;
    return [{ path, field }, ...rowsOf(field.fields ?? [], field.kind === 'array' ? `${path}[]` : path)];
  });
}

/** The fields of a type's data, with what each means and where it is shown. */
export function Fields({ type }: { readonly type: EventType }) {
  return (
    <section className="panel">
      <h2>Fields of data</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <section className="scroll" tabIndex={0} aria-label="Fields of data">
        <table className="fields-of-data">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Kind</th>
              <th scope="col">Shown on</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            {rowsOf(fieldsOf(type), 'data').map(({ path, field }) => (
              <tr key={path}>
                <th scope="row">
                  <code>{path}</code>
                </th>
                <td>
                  {field.kind}
                  {field.required ? '' : ', optional'}
                </td>
                <td>
                  {field.on === 'all' ? 'all' : field.on.join(', ')}
                  {field.versions.length === API_VERSIONS.length
                    ? ''
                    : `; only in ${field.versions.join(', ')}`}
                </td>
                <td>
                  <Marked text={field.description} />
                  <Values field={field} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function Values({ field: { constant, values } }: { readonly field: Field }) {
  const known = constant === undefined ? values : [constant];
  if (known === undefined) return null;
  return (
    <span className="note values">
      {known.map((value) => (
        <code key={value}>{value}</code>
      ))}
    </span>
  );
}
