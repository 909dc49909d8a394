import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { textOf } from '../../services/domain/verification/alterations.ts';
import { readCaptured } from '../../services/domain/verification/captured-text.ts';
import {
  hasPlatformSignature,
  type PlatformKey,
} from '../../services/domain/verification/platform-signature.ts';
import {
  type CapturedRequest,
  TOLERANCE_SECONDS_DEFAULT,
} from '../../services/domain/verification/verification.ts';
import { REDACTED } from '../../services/domain/webhook-request.ts';
import { clock } from '../api/api.ts';
import { deliveryQuery, platformKeysQuery } from '../api/reads.ts';
import { Foreign } from '../parts/foreign.tsx';
import { Outcome } from '../parts/outcome.tsx';
import { type Answer as Found, verifyHere } from './check.ts';
import { differenceOf } from './difference.ts';

interface Asked {
  readonly head: string;
  readonly body: string | Uint8Array;
  readonly secret: string;
  readonly isAgeChecked: boolean;
}

const NO_KEYS: readonly PlatformKey[] = [];

/** Says whether a request is authentic, and what makes it fail. */
export function Answer({ head, body, secret, isAgeChecked }: Asked) {
  const request = useMemo(
    () => ({
      headers: readCaptured(head).headers,
      body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    }),
    [head, body],
  );
  const missing = whatIsMissing(head, request, secret);
  const isSigned = hasPlatformSignature(request);
  const { data: keys = NO_KEYS } = useQuery({ ...platformKeysQuery, enabled: isSigned });
  const found = useAnswer({ request, secret, isAgeChecked, keys }, missing === undefined);
  const isJudged = found?.verdict.checks.some(({ name }) => name === 'v1a') ?? true;
  return (
    <section className="panel">
      <h2>Answer</h2>
      <div role="status" className="verified">
        {missing === undefined ? null : <p>{missing}</p>}
        {found === undefined ? null : <Checks found={found} request={request} />}
        {found !== undefined && !isAgeChecked ? <p className="note">The age was not checked.</p> : null}
        {isSigned && !isJudged ? (
          <p className="note">
            The signature v1a was not checked: the platform publishes no key, or this browser cannot do it.
          </p>
        ) : null}
      </div>
    </section>
  );
}

function whatIsMissing(head: string, { headers, body }: CapturedRequest, secret: string): string | undefined {
  if (head.trim() === '') return 'Paste the headers, or a whole request.';
  if (Object.keys(headers).length === 0)
    return 'There are no headers in this text: paste lines such as "webhook-id: …".';
  if (secret === '') return 'Paste the secret of the endpoint, which begins with whsec_.';
  return body.length === 0 ? 'Paste the body.' : undefined;
}

interface Checked extends Pick<Asked, 'secret' | 'isAgeChecked'> {
  readonly request: CapturedRequest;
  readonly keys: readonly PlatformKey[];
}

function useAnswer({ request, secret, isAgeChecked, keys }: Checked, isComplete: boolean) {
  const [answer, setAnswer] = useState<Found>();
  useEffect(() => {
    let isLatest = true;
    const toleranceSeconds = isAgeChecked ? TOLERANCE_SECONDS_DEFAULT : Number.POSITIVE_INFINITY;
    const given = { request, secret, nowSeconds: clock.now() / 1000, toleranceSeconds };
    const answering = isComplete ? verifyHere(given, keys) : Promise.resolve(undefined);
    void answering.then((found) => (isLatest ? setAnswer(found) : undefined));
    return () => {
      isLatest = false;
    };
  }, [request, secret, isAgeChecked, keys, isComplete]);
  return isComplete ? answer : undefined;
}

function Checks({ found, request }: { readonly found: Found; readonly request: CapturedRequest }) {
  const { verdict, isExplained } = found;
  // A page of a delivery, and its curl command, leave the secret out.
  const isHidden = (request.headers.authorization ?? REDACTED) === REDACTED;
  const checks = verdict.checks.filter(({ name }) => !(isHidden && name === 'authorization'));
  const isRight = checks.every(({ ok }) => ok);
  const signature = checks.find(({ name }) => name === 'signature');
  return (
    <>
      <p className="verified-in-short">
        <Outcome tone={isRight ? 'good' : 'bad'}>
          {isRight ? 'Authentic: a receiver takes it' : 'Not authentic: a receiver refuses it'}
        </Outcome>
      </p>
      <dl className="checks">
        {checks.map(({ name, ok, detail }) => (
          <div key={name}>
            <dt>
              <Outcome tone={ok ? 'good' : 'bad'}>{name}</Outcome>
            </dt>
            <dd>
              <Foreign text={detail} />
            </dd>
          </div>
        ))}
      </dl>
      {isHidden ? (
        <p className="note">
          The secret in Authorization was not compared: this text leaves it out, as pages of deliveries do.
          The signature is enough.
        </p>
      ) : null}
      {signature?.ok === false && !isExplained ? <SentBody request={request} /> : null}
      {signature?.ok === true && !isRight ? (
        <p>The signature is right: only what is marked ✗ makes a receiver refuse it.</p>
      ) : null}
    </>
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Compares the body with the one of the delivery that the headers name. */
function SentBody({ request: { headers, body } }: { readonly request: CapturedRequest }) {
  const endpoint = headers['webhook-endpoint-id'] ?? '';
  const id = headers['webhook-delivery-id'] ?? '';
  const isNamed = UUID.test(endpoint) && UUID.test(id);
  const { data } = useQuery({ ...deliveryQuery(endpoint, id), enabled: isNamed, refetchInterval: false });
  const sent = data?.body ?? undefined;
  if (!isNamed || sent === undefined) return null;
  const found = differenceOf(sent, textOf(body) ?? '');
  return (
    <div className="difference">
      <h3>
        Compared with{' '}
        <Link to="/endpoints/$endpoint/deliveries/$id" params={{ endpoint, id }}>
          what was sent
        </Link>
      </h3>
      {found === undefined ? (
        <p>The body is the one that was sent: it is the secret, the id, the time or the signature.</p>
      ) : (
        <>
          <p>
            The body differs from character {found.at} on
            {found.isSameData
              ? ', and has the same data: something has parsed the JSON and written it anew. Check the bytes as they came in.'
              : '.'}
          </p>
          <dl className="pairs">
            <div>
              <dt>Sent</dt>
              <dd>
                <code>
                  <Foreign text={found.sent} />
                </code>
              </dd>
            </div>
            <div>
              <dt>Yours</dt>
              <dd>
                <code>
                  <Foreign text={found.yours} />
                </code>
              </dd>
            </div>
          </dl>
        </>
      )}
    </div>
  );
}
