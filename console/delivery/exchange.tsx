import { Link } from '@tanstack/react-router';
import { curlOf } from '../../client/curl.ts';
import { formatDuration } from '../../client/duration.ts';
import type { Attempt, DeliveryDetail } from '../api/shapes.ts';
import { Copy } from '../parts/copy.tsx';
import { useEndpoint } from '../parts/endpoint-name.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { JsonText } from '../parts/json-text.tsx';
import { Outcome } from '../parts/outcome.tsx';
import { Time } from '../parts/time.tsx';
import { sentHeaders } from './sent-headers.ts';

interface Props {
  readonly delivery: DeliveryDetail;
  readonly attempt: Attempt;
}

/** Shows the request and the response of an attempt. */
export function Exchange({ delivery, attempt }: Props) {
  return (
    <div className="exchange">
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
        POST {endpoint === undefined ? 'to an endpoint that was deleted' : <Foreign text={endpoint.url} />} ·{' '}
        <Time at={attempt.started_at} digits="milliseconds" />
      </p>
      {signature === undefined ? null : (
        <p className="signature">
          Signature <code>{signature}</code> <Copy text={signature} what="the signature" />{' '}
          <Link to="/verify" search={{ endpoint: delivery.endpoint_uuid, delivery: delivery.delivery_uuid }}>
            Verify it
          </Link>
        </p>
      )}
      <Headers headers={headers} />
      {body === null ? (
        <p className="note">
          {delivery.body_removed ? 'The body is no longer kept.' : 'The body is not recorded yet.'}
        </p>
      ) : (
        <JsonText text={body} what="the body of the request" />
      )}
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
      <p className="facts">
        <Outcome tone={code === null ? 'good' : 'bad'}>
          {status === null ? 'no response' : `HTTP ${status}`}
          {code === null ? '' : ` · ${code}`}
        </Outcome>
        {detail === null ? null : (
          <>
            {' '}
            · <Foreign text={detail} />
          </>
        )}
      </p>
      {headers === null ? null : <Headers headers={headers} />}
      {body === null ? (
        <p className="note">{isRemoved ? 'The body is no longer kept.' : 'There was no body.'}</p>
      ) : (
        <JsonText text={body} what="the body of the response" />
      )}
      {isCut ? <p className="note">Your server sent more: the first 16 KiB are kept.</p> : null}
    </section>
  );
}

function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const all = Object.entries(headers);
  if (all.length === 0) return null;
  return (
    <details className="headers">
      <summary>{all.length === 1 ? '1 header' : `${all.length} headers`}</summary>
      <dl>
        {all.map(([name, value]) => (
          <div key={name}>
            <dt>
              <Foreign text={name} />
            </dt>
            <dd>
              <Foreign text={value} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
