import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ChangeEvent, useDeferredValue, useState } from 'react';
import { readCaptured } from '../../services/domain/verification/captured-text.ts';
import { deliveryQuery } from '../api/reads.ts';
import type { DeliveryDetail } from '../api/shapes.ts';
import { Button, Check, Field } from '../parts/controls.tsx';
import { Screen, Shown } from '../parts/screen.tsx';
import { Answer } from './answer.tsx';

/** Explains why a check of a signature fails: the request is pasted, the secret stays in the page. */
export function VerifyPage() {
  const { endpoint, delivery } = useSearch({ from: '/verify' });
  if (endpoint === undefined || delivery === undefined) return <Form key="own" headers="" body="" />;
  return <OfDelivery key={delivery} endpoint={endpoint} id={delivery} />;
}

/** Begins with the request of a delivery, as it was sent. */
function OfDelivery({ endpoint, id }: { readonly endpoint: string; readonly id: string }) {
  const query = useQuery(deliveryQuery(endpoint, id));
  return <Shown query={query}>{(data) => <Form headers={headersOf(data)} body={data.body ?? ''} />}</Shown>;
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
      <Screen title="Verify">
        <p className="explanation">
          Paste a webhook as your server got it. The answer names what makes the check of its signature fail.
        </p>
      </Screen>
      <div className="columns exchange">
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
          <Field
            label="Secret of the endpoint"
            type="password"
            note="It stays in this page: it is not sent, and not kept."
            placeholder="whsec_…"
            value={secret}
            onChange={setSecret}
          />
          <Check isOn={isAgeChecked} onChange={setAgeChecked}>
            Check its age as well: a receiver refuses what is older than five minutes
          </Check>
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

function BodyField({ body, onChange }: { readonly body: Body; readonly onChange: (body: Body) => void }) {
  const read = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    if (file !== undefined) onChange({ file: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
  };
  if ('file' in body) {
    return (
      <p className="facts">
        Body: {body.bytes.length} bytes of a file{' '}
        <Button kind="copy" onClick={() => onChange({ text: '' })}>
          Paste one instead
        </Button>
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
