import { useState } from 'react';
import type { ApiVersion } from '../../../services/domain/endpoint.ts';
import { useReadOnly } from '../../api/session.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { Button, Form } from '../../parts/controls.tsx';
import { Panel } from '../../parts/screen.tsx';
import { Warnings } from '../shown.tsx';
import { type EndpointChange, updateEndpoint, useChange } from './changes.ts';
import { EndpointFields, type Fields } from './endpoint-fields.tsx';

/** What was changed and not saved yet. */
interface Draft extends Partial<Fields> {
  readonly isSignedByPlatform?: boolean;
}

/** Changes URL, description, filter and signature; says before what each change means. */
export function Settings({ endpoint }: { readonly endpoint: Endpoint }) {
  const [draft, setDraft] = useState<Draft>({});
  const readOnly = useReadOnly();
  const { mutateAsync, data, error, isPending, reset } = useChange((body: EndpointChange) =>
    updateEndpoint(endpoint.uuid, body),
  );
  const fields: Fields = {
    url: endpoint.url,
    description: endpoint.description,
    filter: endpoint.subscribed_events as Fields['filter'],
    ...draft,
  };
  const { isSignedByPlatform = endpoint.public_key_signature } = draft;
  const body = changeOf(endpoint, fields, isSignedByPlatform);
  const isChanged = Object.keys(body).length > 0;
  const isEmpty = fields.filter?.length === 0;
  const save = () => {
    // A refusal is shown at its field.
    mutateAsync(body).then(
      () => setDraft({}),
      () => undefined,
    );
  };
  const change = (part: Partial<Fields>) => {
    reset();
    setDraft({ ...draft, ...part });
  };
  return (
    <Panel title="Settings">
      <Form className="endpoint-form" onSubmit={save}>
        <EndpointFields
          {...{ fields, error }}
          version={endpoint.api_version as ApiVersion}
          onChange={change}
        />
        <SignatureField
          value={isSignedByPlatform}
          onChange={(value) => setDraft({ ...draft, isSignedByPlatform: value })}
        />
        <Meaning body={body} />
        <p className="row">
          <Button
            type="submit"
            kind="primary"
            busy={isPending && 'Saving…'}
            disabled={readOnly !== undefined || !isChanged || isEmpty}
          >
            Save
          </Button>
          {isChanged ? <Button onClick={() => setDraft({})}>Discard</Button> : null}
          <span className="note">{readOnly ?? (isEmpty ? 'Choose at least one type.' : '')}</span>
        </p>
        <p role="status">{data === undefined || isChanged ? '' : 'Saved. It is in force.'}</p>
        <Warnings all={data?.warnings} />
      </Form>
    </Panel>
  );
}

function SignatureField(props: { readonly value: boolean; readonly onChange: (value: boolean) => void }) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={props.value}
        onChange={({ target }) => props.onChange(target.checked)}
      />
      Sign with the platform’s own key too (v1a): nobody who has seen a webhook can make the next one
    </label>
  );
}

/** Returns what differs from the endpoint as it is. */
function changeOf(
  endpoint: Endpoint,
  { url, description, filter }: Fields,
  isSignedByPlatform: boolean,
): EndpointChange {
  const isSame =
    [...(filter ?? ['all'])].sort().join() === [...(endpoint.subscribed_events ?? ['all'])].sort().join();
  return {
    ...(url === endpoint.url ? {} : { url }),
    ...(description === endpoint.description ? {} : { description }),
    ...(isSame ? {} : { subscribed_events: filter === null ? null : [...filter] }),
    ...(isSignedByPlatform === endpoint.public_key_signature
      ? {}
      : { public_key_signature: isSignedByPlatform }),
  };
}

function Meaning({ body }: { readonly body: EndpointChange }) {
  const { url, subscribed_events: filter, public_key_signature: isSigned } = body;
  const lines = [
    ...(url === undefined ? [] : ['Deliveries that wait go to the new URL, with the same secret.']),
    ...(url === undefined ? [] : ['The count of failures begins anew.']),
    ...(filter === undefined
      ? []
      : ['The filter counts for events from now on. What waits is sent as it is.']),
    ...(isSigned === true ? ['Each attempt from now on has the signature v1a beside v1.'] : []),
    ...(isSigned === false ? ['A receiver that relies on v1a refuses every attempt from now on.'] : []),
  ];
  return (
    <ul className="meaning">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
