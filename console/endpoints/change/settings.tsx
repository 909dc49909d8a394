import { useState } from 'react';
import type { ApiVersion } from '../../../services/domain/endpoint.ts';
import { useReadOnly } from '../../api/session.ts';
import type { Endpoint } from '../../api/shapes.ts';
import { Button, Check, Form } from '../../parts/controls.tsx';
import { Panel } from '../../parts/screen.tsx';
import { Warnings } from '../shown.tsx';
import { type EndpointChange, updateEndpoint, useChange } from './changes.ts';
import { EndpointFields, type Fields } from './endpoint-fields.tsx';

interface Settable extends Fields {
  readonly public_key_signature: boolean;
}

/** Changes URL, description, filter and signature; says before what each change means. */
export function Settings({ endpoint }: { readonly endpoint: Endpoint }) {
  // What was changed and not saved yet.
  const [draft, setDraft] = useState<Partial<Settable>>({});
  const readOnly = useReadOnly();
  const { mutate, data, error, isPending, reset } = useChange((body: EndpointChange) =>
    updateEndpoint(endpoint.uuid, body),
  );
  const fields: Settable = { ...(endpoint as Settable), ...draft };
  const body = changeOf(endpoint, draft);
  const isChanged = Object.keys(body).length > 0;
  const isEmpty = fields.subscribed_events?.length === 0;
  const change = (part: Partial<Settable>) => {
    reset();
    setDraft({ ...draft, ...part });
  };
  return (
    <Panel title="Settings">
      <Form className="stack endpoint-form" onSubmit={() => mutate(body, { onSuccess: () => setDraft({}) })}>
        <EndpointFields
          {...{ fields, error }}
          version={endpoint.api_version as ApiVersion}
          isOperational={endpoint.kind === 'operational'}
          onChange={change}
        />
        <Check isOn={fields.public_key_signature} onChange={(is) => change({ public_key_signature: is })}>
          Sign with the platform’s own key too (v1a): nobody who has seen a webhook can make the next one
        </Check>
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

/** Returns what differs from the endpoint as it is; the order of a filter's types means nothing. */
function changeOf(endpoint: Endpoint, draft: Partial<Settable>): EndpointChange {
  const textOf = (value: unknown) => JSON.stringify(Array.isArray(value) ? [...value].sort() : value);
  const differs = ([name, value]: readonly [string, unknown]) =>
    textOf(value) !== textOf(endpoint[name as keyof Settable]);
  return Object.fromEntries(Object.entries(draft).filter(differs));
}

function Meaning({ body }: { readonly body: EndpointChange }) {
  const { url, subscribed_events: filter, public_key_signature: isSigned } = body;
  const lines = [
    [url !== undefined, 'Deliveries that wait go to the new URL, with the same secret.'],
    [url !== undefined, 'The count of failures begins anew.'],
    [filter !== undefined, 'The filter counts for events from now on. What waits is sent as it is.'],
    [isSigned === true, 'Each attempt from now on has the signature v1a beside v1.'],
    [isSigned === false, 'A receiver that relies on v1a refuses every attempt from now on.'],
  ] as const;
  return (
    <ul className="meaning">{lines.map(([isSo, line]) => (isSo ? <li key={line}>{line}</li> : null))}</ul>
  );
}
