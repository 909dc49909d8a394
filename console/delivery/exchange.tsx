import { Link } from '@tanstack/react-router';
import { curlOf } from '../../client/curl.ts';
import { formatDuration } from '../../client/duration.ts';
import type { Attempt, DeliveryDetail } from '../api/shapes.ts';
import { Copy } from '../parts/controls.tsx';
import { useEndpoint } from '../parts/endpoint.tsx';
import { JsonText } from '../parts/json-text.tsx';
import { Facts, Pairs } from '../parts/screen.tsx';
import { foreign, Outcome, Time } from '../parts/text.tsx';
import { counted } from '../parts/words.ts';
import { sentHeaders } from './sent-headers.ts';

const REMOVED = 'The body is no longer kept.';

interface Props {
  readonly delivery: DeliveryDetail;
  readonly attempt: Attempt;
}

/** Shows the request and the response of an attempt. */
export function Exchange({ delivery, attempt }: Props) {
  return (
    <div className="columns exchange">
      <RequestPanel delivery={delivery} attempt={attempt} />
      <ResponsePanel attempt={attempt} isRemoved={delivery.body_removed} />
    </div>
  );
}

function RequestPanel({ delivery, attempt }: Props) {
  const endpoint = useEndpoint(delivery.endpoint_uuid);
  const { request_headers: headers, number } = attempt;
  const { body } = delivery;
  const signature = Object.entries(headers).find(([name]) => name.toLowerCase() === 'webhook-signature')?.[1];
  return (
    <section className="panel">
      <h2>
        Request <span className="note">of attempt {number}</span>
        {endpoint === undefined || body === null ? null : (
          <Copy
            text={curlOf(endpoint.url, sentHeaders(headers), body)}
            what="the request"
            label="Copy as curl"
          />
        )}
      </h2>
      <p className="facts">
        POST {endpoint === undefined ? 'to an endpoint that was deleted' : foreign(endpoint.url)} ·{' '}
        <Time at={attempt.started_at} digits="milliseconds" />
      </p>
      {signature === undefined ? null : (
        <p className="note">
          Signature <code>{signature}</code> <Copy text={signature} what="the signature" />{' '}
          <Link to="/verify" search={{ endpoint: delivery.endpoint_uuid, delivery: delivery.delivery_uuid }}>
            Verify it
          </Link>
        </p>
      )}
      <Headers headers={headers} />
      <Body
        text={body}
        what="request"
        none={delivery.body_removed ? REMOVED : 'The body is not recorded yet.'}
      />
    </section>
  );
}

function ResponsePanel({ attempt, isRemoved }: { readonly attempt: Attempt; readonly isRemoved: boolean }) {
  const {
    response_status: status,
    failure_code: code,
    failure_detail: detail,
    response_body: body,
  } = attempt;
  const { response_headers: headers, duration_ms: ms, response_body_truncated: isCut } = attempt;
  return (
    <section className="panel">
      <h2>
        Response <span className="note">after {formatDuration(ms)}</span>
      </h2>
      <Facts>
        <Outcome tone={code === null ? 'good' : 'bad'}>
          {[status === null ? 'no response' : `HTTP ${status}`, code ?? []].flat().join(' · ')}
        </Outcome>
        {detail === null ? null : foreign(detail)}
      </Facts>
      {headers === null ? null : <Headers headers={headers} />}
      <Body text={body} what="response" none={isRemoved ? REMOVED : 'There was no body.'} />
      {isCut ? <p className="note">Your server sent more: the first 16 KiB are kept.</p> : null}
    </section>
  );
}

interface BodyProps {
  readonly text: string | null;
  readonly what: 'request' | 'response';
  /** Says why there is none. */
  readonly none: string;
}

function Body({ text, what, none }: BodyProps) {
  if (text === null) return <p className="note">{none}</p>;
  return <JsonText text={text} what={`the body of the ${what}`} />;
}

function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const all = Object.entries(headers).map(([name, value]) => {
    return { name, shown: foreign(name), says: foreign(value) };
  });
  if (all.length === 0) return null;
  return (
    <details className="headers">
      <summary>{counted(all.length, 'header')}</summary>
      <Pairs className="by-name" all={all} />
    </details>
  );
}
