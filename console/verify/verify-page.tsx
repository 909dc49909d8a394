import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ChangeEvent, useDeferredValue, useId, useState } from 'react';
import { readCaptured } from '../../services/domain/verification/captured-text.ts';
import { deliveryQuery } from '../api/reads.ts';
import type { DeliveryDetail } from '../api/shapes.ts';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Loading } from '../parts/loading.tsx';
import { useTitle } from '../parts/title.ts';
import { Answer } from './answer.tsx';

/** Explains why a check of a signature fails: the request is pasted, the secret stays in the page. */
export function VerifyPage() {
  useTitle('Verify');
  const { endpoint, delivery } = useSearch({ from: '/verify' });
  if (endpoint === undefined || delivery === undefined) return <Form key="own" headers="" body="" />;
  return <OfDelivery key={delivery} endpoint={endpoint} id={delivery} />;
}

/** Begins with the request of a delivery, as it was sent. */
function OfDelivery({ endpoint, id }: { readonly endpoint: string; readonly id: string }) {
  const { data, error, refetch } = useQuery(deliveryQuery(endpoint, id));
  if (data === undefined)
    return error ? <ErrorPanel error={error} retry={() => void refetch()} /> : <Loading />;
  return <Form headers={headersOf(data)} body={data.body ?? ''} />;
}

function headersOf({ attempts }: DeliveryDetail): string {
  const headers = Object.entries(attempts.at(-1)?.request_headers ?? {});
  return headers.map(([name, value]) => `${name}: ${value}`).join('\n');
}

const EXAMPLE = `webhook-id: …
webhook-timestamp: …
webhook-signature: v1,…`;

/** A body that was typed or pasted, or one of a file, whose bytes no field changes. */
type Body = { readonly text: string } | { readonly file: string; readonly bytes: Uint8Array };

function Form({ headers, body: given }: { readonly headers: string; readonly body: string }) {
  const [head, setHead] = useState(headers);
  const [body, setBody] = useState<Body>({ text: given });
  const [secret, setSecret] = useState('');
  const [isAgeChecked, setAgeChecked] = useState(true);
  // A whole request, or a curl command, brings its body along.
  const paste = (text: string) => {
    setHead(text);
    const captured = readCaptured(text);
    if (captured.body !== undefined) setBody({ text: captured.body });
  };
  const asked = useDeferredValue({ head, body, secret, isAgeChecked });
  return (
    <>
      <section className="panel">
        <h1>Verify</h1>
        <p className="explanation">
          Paste a webhook as your server got it. The answer names what makes the check of its signature fail.
        </p>
      </section>
      <div className="exchange">
        <form className="panel" onSubmit={(event) => event.preventDefault()}>
          <h2>Request</h2>
          <Field
            label="Headers"
            note="Lines, JSON, curl -v, a curl command, a whole request, or what Node, Python, Go, PHP or Ruby print."
            placeholder={EXAMPLE}
            rows={8}
            value={head}
            onChange={paste}
          />
          <BodyField body={body} onChange={setBody} />
          <SecretField value={secret} onChange={setSecret} />
          <label className="check">
            <input
              type="checkbox"
              checked={isAgeChecked}
              onChange={({ target }) => setAgeChecked(target.checked)}
            />
            Check its age as well: a receiver refuses what is older than five minutes
          </label>
        </form>
        <Answer
          head={asked.head}
          body={'text' in asked.body ? asked.body.text : asked.body.bytes}
          secret={asked.secret}
          isAgeChecked={asked.isAgeChecked}
        />
      </div>
    </>
  );
}

interface FieldProps {
  readonly label: string;
  readonly note: string;
  readonly placeholder: string;
  readonly rows: number;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function Field({ label, note, placeholder, rows, value, onChange }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        aria-describedby={`${id}-note`}
        rows={rows}
        value={value}
        placeholder={placeholder}
        onChange={({ target }) => onChange(target.value)}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
      />
      <p className="note" id={`${id}-note`}>
        {note}
      </p>
    </div>
  );
}

function BodyField({ body, onChange }: { readonly body: Body; readonly onChange: (body: Body) => void }) {
  const read = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    if (file !== undefined) onChange({ file: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
  };
  if ('file' in body) {
    return (
      <p className="facts">
        Body: {body.bytes.length} bytes of a file{' '}
        <button type="button" className="copy" onClick={() => onChange({ text: '' })}>
          Paste one instead
        </button>
      </p>
    );
  }
  return (
    <>
      <Field
        label="Body"
        note="Each character counts, a line break at the end too. The field turns CRLF into LF: a file keeps all bytes."
        placeholder={'{"type":"…'}
        rows={8}
        value={body.text}
        onChange={(text) => onChange({ text })}
      />
      <label className="check wraps">
        or from a file <input type="file" onChange={(event) => void read(event)} />
      </label>
    </>
  );
}

function SecretField(props: { readonly value: string; readonly onChange: (text: string) => void }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Secret of the endpoint</label>
      <input
        id={id}
        type="password"
        aria-describedby={`${id}-note`}
        value={props.value}
        placeholder="whsec_…"
        onChange={({ target }) => props.onChange(target.value)}
        autoComplete="off"
      />
      <p className="note" id={`${id}-note`}>
        It stays in this page: it is not sent, and not kept.
      </p>
    </div>
  );
}
