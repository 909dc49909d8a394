import { Link, useSearch } from '@tanstack/react-router';
import { entityKindsOf, SUB_TYPES, subTypesOf } from '../../services/domain/catalog/catalog.ts';
import { EVENT_MEANINGS } from '../../services/domain/catalog/event-meanings.ts';
import { MACHINES } from '../../services/domain/catalog/machines.ts';
import { API_VERSIONS } from '../../services/domain/endpoint.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import { useTitle } from '../parts/title.ts';
import { MachineGraph } from '../story/machine-graph.tsx';
import { Fields } from './fields.tsx';
import { Marked } from './marked.tsx';
import { Payload } from './payload.tsx';
import { Receivers } from './receivers.tsx';

/** Every event that may come: what it means, what it holds, and how each version writes it. */
export function CataloguePage() {
  const named = useSearch({ from: '/catalogue' });
  const type = EVENT_TYPES.find((one) => one === named.type) ?? EVENT_TYPES[0];
  const subTypes = SUB_TYPES[type];
  // One that both versions have shows what differs.
  const first = subTypes.find((one) =>
    API_VERSIONS.every((version) => subTypesOf(type, version).includes(one)),
  );
  const subType = subTypes.find((one) => one === named.subType) ?? first ?? subTypes[0] ?? '';
  useTitle(`${type}, catalogue`);
  const table = MACHINES[type];
  return (
    <>
      <section className="panel">
        <h1>Catalogue</h1>
        <nav className="kinds" aria-label="Types">
          {EVENT_TYPES.map((one) => (
            <Link
              key={one}
              to="/catalogue"
              search={{ type: one }}
              className={one === type ? 'chip chosen' : 'chip'}
              aria-current={one === type ? 'true' : undefined}
            >
              {one}
            </Link>
          ))}
        </nav>
        <h2>{type}</h2>
        <p>
          <Marked text={EVENT_MEANINGS[type].about} />{' '}
          <span className="note">About a {entityKindsOf(type).join(' or a ').toLowerCase()}.</span>
        </p>
        {table === undefined ? (
          <p className="note">It reports a single occurrence, which may come at any time.</p>
        ) : (
          <MachineGraph type={type} table={table} reached={[subType]} />
        )}
        <SubTypes type={type} chosen={subType} />
      </section>
      <Payload type={type} subType={subType} />
      <Fields type={type} />
      <Receivers />
    </>
  );
}

function SubTypes({ type, chosen }: { readonly type: EventType; readonly chosen: string }) {
  return (
    <dl className="sub-types">
      {SUB_TYPES[type].map((subType) => {
        const versions = API_VERSIONS.filter((version) => subTypesOf(type, version).includes(subType));
        return (
          <div key={subType}>
            <dt>
              <Link
                to="/catalogue"
                search={{ type, subType }}
                className={subType === chosen ? 'strong' : ''}
                aria-current={subType === chosen ? 'true' : undefined}
                resetScroll={false}
              >
                {subType}
              </Link>
            </dt>
            <dd>
              <Marked text={EVENT_MEANINGS[type].subTypes[subType] ?? ''} />
              {versions.length === API_VERSIONS.length ? null : (
                <span className="note"> Only in {versions.join(', ')}.</span>
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
