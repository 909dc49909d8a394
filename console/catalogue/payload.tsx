import { API_VERSION_DEFAULT, API_VERSIONS } from '../../services/domain/endpoint.ts';
import { compareBodies, isDifferent } from '../../services/domain/versions/body-differences.ts';
import samples from '../generated/samples.json' with { type: 'json' };
import { JsonText } from '../parts/json-text.tsx';

const BODIES: Readonly<Record<string, Readonly<Record<string, string>>>> = samples.bodies;
/** The newest first. */
const VERSIONS = [...API_VERSIONS].sort((a, b) =>
  a === API_VERSION_DEFAULT ? -1 : b === API_VERSION_DEFAULT ? 1 : 0,
);

/** A sample of a body, as each version writes it, and what differs. */
export function Payload({ type, subType }: { readonly type: string; readonly subType: string }) {
  const bodies = BODIES[`${type}/${subType}`] ?? {};
  const [newer, older] = VERSIONS.map((version) => bodies[version]);
  return (
    <section className="panel">
      <h2>
        Body of {type}/{subType}
      </h2>
      <div className="exchange">
        {VERSIONS.map((version) => {
          const body = bodies[version];
          return (
            <section key={version}>
              <h3>Version {version}</h3>
              {body === undefined ? (
                <p className="note">
                  This version does not have it: an endpoint of this version is not sent it.
                </p>
              ) : (
                <JsonText text={body} what={`the body in version ${version}`} />
              )}
            </section>
          );
        })}
      </div>
      {newer === undefined || older === undefined ? null : <Differences older={older} newer={newer} />}
    </section>
  );
}

function Differences({ older, newer }: { readonly older: string; readonly newer: string }) {
  const found = compareBodies(older, newer).filter(isDifferent);
  if (found.length === 0) return <p className="note">Both versions write the same.</p>;
  return (
    <dl className="pairs">
      {found.map(({ path, older: before, newer: after }) => (
        <div key={path}>
          <dt>
            <code>{path}</code>
          </dt>
          <dd>
            {after === undefined ? `not in ${VERSIONS[0]}` : <code>{after}</code>} ·{' '}
            {before === undefined ? `not in ${VERSIONS[1]}` : <code>{before}</code>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
