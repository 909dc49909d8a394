import { type FormEvent, useState } from 'react';
import type { ApiVersion } from '../../../services/domain/endpoint.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { useReadOnly } from '../../parts/read-only.ts';
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
  const save = (event: FormEvent) => {
    event.preventDefault();
    // A refusal is shown at its field.
    mutateAsync(body).then(
      () => setDraft({}),
      () => undefined,
    );
  };
  return (
    <section className="panel">
      <h2>Settings</h2>
      <form className="endpoint-form" onSubmit={save}>
        <EndpointFields
          fields={fields}
          version={endpoint.api_version as ApiVersion}
          onChange={(change) => {
            reset();
            setDraft({ ...draft, ...change });
          }}
          error={error}
        />
        <Meaning body={body} />
        <p className="buttons">
          <button
            type="submit"
            className="primary"
            disabled={readOnly !== undefined || isPending || !isChanged || isEmpty}
          >
            {isPending ? 'Saving…' : 'Save'}
          </button>
          {isChanged ? (
            <button type="button" onClick={() => setDraft({})}>
              Discard
            </button>
          ) : null}
          <span className="note">{readOnly ?? (isEmpty ? 'Choose at least one type.' : '')}</span>
        </p>
        <p role="status">{data === undefined || isChanged ? '' : 'Saved. It is in force.'}</p>
        <Warnings all={data?.warnings} />
      </form>
    </section>
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
