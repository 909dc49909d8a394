import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { API_VERSION_DEFAULT, API_VERSIONS, type ApiVersion } from '../../../services/domain/endpoint.ts';
import { useReadOnly } from '../../api/session.ts';
import { Button, Check, Field, Form } from '../../parts/controls.tsx';
import { EndpointLink, labelOf } from '../../parts/endpoint.tsx';
import { Panel, Screen } from '../../parts/screen.tsx';
import { Warnings } from '../shown.tsx';
import { createEndpoint, useSecretChange } from './changes.ts';
import { EndpointFields, type Fields } from './endpoint-fields.tsx';
import { SecretOnce } from './secret.tsx';
import { TestForm } from './test-panel.tsx';

const NOTHING: Fields = { url: 'https://', description: '', subscribed_events: null };

/** Makes an endpoint. Its secret is shown once. */
export function NewEndpointPage() {
  const [fields, setFields] = useState<Fields>(NOTHING);
  const [version, setVersion] = useState<string>(API_VERSION_DEFAULT);
  const [isOff, setOff] = useState(false);
  const readOnly = useReadOnly();
  const { mutate, data, error, isPending, reset } = useSecretChange((key) => {
    const more = { api_version: version as ApiVersion, status: isOff ? 'disabled' : 'active' } as const;
    return createEndpoint({ ...fields, ...more }, key);
  });
  if (data !== undefined) return <Created endpoint={data} secret={data.signing_secret} />;
  const isEmpty = fields.subscribed_events?.length === 0;
  const change = (part: Partial<Fields>) => {
    reset();
    setFields({ ...fields, ...part });
  };
  const versions = API_VERSIONS.toReversed();
  return (
    <Screen title="New endpoint">
      <Form className="stack endpoint-form" onSubmit={() => mutate()}>
        <EndpointFields {...{ fields, error }} version={version as ApiVersion} onChange={change} />
        <Field label="Version of the webhooks" value={version} options={versions} onChange={setVersion} />
        <Check isOn={isOff} onChange={setOff}>
          Disabled at first: only tests are sent before you enable it
        </Check>
        <p className="row">
          <Button
            type="submit"
            kind="primary"
            busy={isPending && 'Creating…'}
            disabled={readOnly !== undefined || isEmpty}
          >
            Create
          </Button>
          <Link to="/endpoints">Back to the endpoints</Link>
          <span className="note">
            {readOnly ?? (isEmpty ? 'Choose at least one type.' : 'Nothing is sent to the URL at creation.')}
          </span>
        </p>
      </Form>
    </Screen>
  );
}

type Made = Awaited<ReturnType<typeof createEndpoint>>;

function Created({ endpoint, secret }: { readonly endpoint: Made; readonly secret: string }) {
  return (
    <>
      <Panel heading="h1" title={`${labelOf(endpoint)} is created`}>
        <p>Put the signing secret into your receiver:</p>
        <SecretOnce secret={secret} />
        <Warnings all={endpoint.warnings} />
        <p>
          <EndpointLink uuid={endpoint.uuid}>I have the secret: go to the endpoint</EndpointLink>
        </p>
      </Panel>
      <Panel title="Does your receiver accept it?">
        <TestForm endpoint={endpoint} />
      </Panel>
    </>
  );
}
