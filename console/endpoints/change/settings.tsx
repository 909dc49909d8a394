import { useState } from 'react';
import type { ApiVersion } from '../../../services/domain/endpoint.ts';
import { useReadOnly } from '../../api/session.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { Button, Form } from '../../parts/controls.tsx';
import { Panel } from '../../parts/screen.tsx';
import { Warnings } from '../shown.tsx';
import { type EndpointChange, updateEndpoint, useChange } from './changes.ts';
import { EndpointFields, type Fields } from './endpoint-fields.tsx';

/** Changes URL, description and filter; says before what each change means. */
export function Settings({ endpoint }: { readonly endpoint: Endpoint }) {
  const [draft, setDraft] = useState<Partial<Fields>>({});
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
  const body = changeOf(endpoint, fields);
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

/** Returns what differs from the endpoint as it is. */
function changeOf(endpoint: Endpoint, { url, description, filter }: Fields): EndpointChange {
  const isSame =
    [...(filter ?? ['all'])].sort().join() === [...(endpoint.subscribed_events ?? ['all'])].sort().join();
  return {
    ...(url === endpoint.url ? {} : { url }),
    ...(description === endpoint.description ? {} : { description }),
    ...(isSame ? {} : { subscribed_events: filter === null ? null : [...filter] }),
  };
}

function Meaning({ body: { url, subscribed_events: filter } }: { readonly body: EndpointChange }) {
  const lines = [
    ...(url === undefined ? [] : ['Deliveries that wait go to the new URL, with the same secret.']),
    ...(url === undefined ? [] : ['The count of failures begins anew.']),
    ...(filter === undefined
      ? []
      : ['The filter counts for events from now on. What waits is sent as it is.']),
  ];
  return (
    <ul className="meaning">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
