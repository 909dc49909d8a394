import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { entityKindsOf, fieldsOf, SUB_TYPES, subTypesOf } from '../../services/domain/catalog/catalog.ts';
import { EVENT_MEANINGS } from '../../services/domain/catalog/event-meanings.ts';
import type { Field } from '../../services/domain/catalog/field.ts';
import { MACHINES } from '../../services/domain/catalog/machines.ts';
import { API_VERSION_DEFAULT, API_VERSIONS } from '../../services/domain/endpoint.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import samples from '../generated/samples.json' with { type: 'json' };
import { Button } from '../parts/controls.tsx';
import { Differences } from '../parts/differences.tsx';
import { JsonText } from '../parts/json-text.tsx';
import { Panel, Table, useTitle } from '../parts/screen.tsx';
import { Marked } from '../parts/text.tsx';
import { MachineGraph } from '../story/machine-graph.tsx';

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
      <Panel heading="h1" title="Catalogue">
        <nav className="row kinds" aria-label="Types">
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
      </Panel>
      <Payload type={type} subType={subType} />
      <Fields type={type} />
      <Receivers />
    </>
  );
}

function SubTypes({ type, chosen }: { readonly type: EventType; readonly chosen: string }) {
  return (
    <dl className="by-name sub-types">
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
function Fields({ type }: { readonly type: EventType }) {
  return (
    <Panel title="Fields of data">
      <Table
        label="Fields of data"
        className="fields-of-data"
        rows={rowsOf(fieldsOf(type), 'data')}
        keyOf={({ path }) => path}
        columns={{
          field: ({ path }) => <code>{path}</code>,
          kind: ({ field }) => `${field.kind}${field.required ? '' : ', optional'}`,
          'shown on': ({ field }) => placesOf(field),
          meaning: ({ field }) => (
            <>
              <Marked text={field.description} />
              <Values field={field} />
            </>
          ),
        }}
      />
    </Panel>
  );
}

function placesOf({ on, versions }: Field): string {
  const only = versions.length === API_VERSIONS.length ? '' : `; only in ${versions.join(', ')}`;
  return `${on === 'all' ? 'all' : on.join(', ')}${only}`;
}

function Values({ field: { constant, values } }: { readonly field: Field }) {
  const known = constant === undefined ? values : [constant];
  if (known === undefined) return null;
  return (
    <span className="row note values">
      {known.map((value) => (
        <code key={value}>{value}</code>
      ))}
    </span>
  );
}

const BODIES: Readonly<Record<string, Readonly<Record<string, string>>>> = samples.bodies;
/** The newest first. */
const VERSIONS = [...API_VERSIONS].sort((a, b) =>
  a === API_VERSION_DEFAULT ? -1 : b === API_VERSION_DEFAULT ? 1 : 0,
);

/** A sample of a body, as each version writes it, and what differs. */
function Payload({ type, subType }: { readonly type: string; readonly subType: string }) {
  const bodies = BODIES[`${type}/${subType}`] ?? {};
  const [newer, older] = VERSIONS.map((version) => bodies[version]);
  return (
    <Panel title={`Body of ${type}/${subType}`}>
      <div className="columns exchange">
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
    </Panel>
  );
}

const RECEIVERS = Object.entries(samples.receivers);

/** The documented receivers, which verify a webhook before they take it. */
function Receivers() {
  const [chosen, setChosen] = useState(RECEIVERS[0]?.[0]);
  const code = RECEIVERS.find(([language]) => language === chosen)?.[1] ?? '';
  return (
    <Panel title="Verify and receive">
      <p>
        A whole receiver. When its check fails, <Link to="/verify">Verify</Link> says why.
      </p>
      <fieldset className="row kinds">
        <legend className="note">Language</legend>
        {RECEIVERS.map(([language]) => (
          <Button
            kind="copy"
            key={language}
            aria-pressed={language === chosen}
            onClick={() => setChosen(language)}
          >
            {language}
          </Button>
        ))}
      </fieldset>
      <JsonText text={code} what={`the receiver in ${chosen}`} />
    </Panel>
  );
}
