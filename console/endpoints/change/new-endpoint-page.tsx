import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { API_VERSION_DEFAULT, API_VERSIONS, type ApiVersion } from '../../../services/domain/endpoint.ts';
import { labelOf } from '../../parts/endpoint-name.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { useReadOnly } from '../../parts/read-only.ts';
import { useTitle } from '../../parts/title.ts';
import { Warnings } from '../shown.tsx';
import { createEndpoint, useSecretChange } from './changes.ts';
import { EndpointFields, type Fields } from './endpoint-fields.tsx';
import { SecretOnce } from './secret.tsx';
import { TestForm } from './test-panel.tsx';

const NOTHING: Fields = { url: 'https://', description: '', filter: null };

/** Makes an endpoint. Its secret is shown once. */
export function NewEndpointPage() {
  useTitle('New endpoint');
  const [fields, setFields] = useState<Fields>(NOTHING);
  const [version, setVersion] = useState<ApiVersion>(API_VERSION_DEFAULT);
  const [isOff, setOff] = useState(false);
  const readOnly = useReadOnly();
  const { mutate, data, error, isPending, reset } = useSecretChange((key) => {
    const { url, description, filter } = fields;
    const types = filter === null ? {} : { subscribed_events: [...filter] };
    const status = isOff ? 'disabled' : 'active';
    return createEndpoint({ url, description, ...types, api_version: version, status }, key);
  });
  if (data !== undefined) return <Created endpoint={data} secret={data.signing_secret} />;
  const isEmpty = fields.filter?.length === 0;
  const create = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <section className="panel">
      <h1>New endpoint</h1>
      <form className="endpoint-form" onSubmit={create}>
        <EndpointFields
          fields={fields}
          version={version}
          onChange={(change) => {
            reset();
            setFields({ ...fields, ...change });
          }}
          error={error}
        />
        <label className="field">
          <span>Version of the webhooks</span>
          <select value={version} onChange={({ target }) => setVersion(target.value as ApiVersion)}>
            {API_VERSIONS.toReversed().map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label>
          <input type="checkbox" checked={isOff} onChange={({ target }) => setOff(target.checked)} /> Disabled
          at first: only tests are sent before you enable it
        </label>
        <p className="buttons">
          <button type="submit" className="primary" disabled={readOnly !== undefined || isPending || isEmpty}>
            {isPending ? 'Creating…' : 'Create'}
          </button>
          <Link to="/endpoints">Back to the endpoints</Link>
          <span className="note">
            {readOnly ?? (isEmpty ? 'Choose at least one type.' : 'Nothing is sent to the URL at creation.')}
          </span>
        </p>
      </form>
    </section>
  );
}

type Made = Awaited<ReturnType<typeof createEndpoint>>;

function Created({ endpoint, secret }: { readonly endpoint: Made; readonly secret: string }) {
  return (
    <>
      <section className="panel">
        <h1>
          <Foreign text={labelOf(endpoint)} /> is created
        </h1>
        <p>Put the signing secret into your receiver:</p>
        <SecretOnce secret={secret} />
        <Warnings all={endpoint.warnings} />
        <p>
          <Link to="/endpoints/$endpoint" params={{ endpoint: endpoint.uuid }}>
            I have the secret: go to the endpoint
          </Link>
        </p>
      </section>
      <section className="panel">
        <h2>Does your receiver accept it?</h2>
        <TestForm endpoint={endpoint} />
      </section>
    </>
  );
}
