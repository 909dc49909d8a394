import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { textOf } from '../../services/domain/verification/alterations.ts';
import { readCaptured } from '../../services/domain/verification/captured-text.ts';
import {
  hasPlatformSignature,
  type PlatformKey,
} from '../../services/domain/verification/platform-signature.ts';
import {
  areEqual,
  type CapturedRequest,
  type Form,
  formsOf,
  type Given,
  judge,
  signaturesOf,
  TOLERANCE_SECONDS_DEFAULT,
  type Verdict,
} from '../../services/domain/verification/verification.ts';
import { REDACTED } from '../../services/domain/webhook-request.ts';
import { clock } from '../api/api.ts';
import { deliveryQuery, platformKeysQuery } from '../api/reads.ts';
import { DeliveryLink } from '../parts/endpoint.tsx';
import { Pairs, Panel } from '../parts/screen.tsx';
import { foreign, Outcome } from '../parts/text.tsx';
import { differenceOf } from './difference.ts';
import { platformCheck } from './platform-check.ts';

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
    <Panel title="Answer">
      <div role="status" className="stack verified">
        {missing === undefined ? null : <p>{missing}</p>}
        {found === undefined ? null : <Checks found={found} request={request} />}
        {found !== undefined && !isAgeChecked ? <p className="note">The age was not checked.</p> : null}
        {isSigned && !isJudged ? (
          <p className="note">
            The signature v1a was not checked: the platform publishes no key, or this browser cannot do it.
          </p>
        ) : null}
      </div>
    </Panel>
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

function checked({ name, ok, detail }: Found['verdict']['checks'][number]) {
  return { name, shown: <Outcome tone={ok ? 'good' : 'bad'}>{name}</Outcome>, says: foreign(detail) };
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
      <p className="lead">
        <Outcome tone={isRight ? 'good' : 'bad'}>
          {isRight ? 'Authentic: a receiver takes it' : 'Not authentic: a receiver refuses it'}
        </Outcome>
      </p>
      <Pairs className="by-name" all={checks.map(checked)} />
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
    <div className="stack difference">
      <h3>
        Compared with{' '}
        <DeliveryLink endpoint={endpoint} id={id}>
          what was sent
        </DeliveryLink>
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
          <Pairs
            all={[
              { name: 'Sent', says: <code>{foreign(found.sent)}</code> },
              { name: 'Yours', says: <code>{foreign(found.yours)}</code> },
            ]}
          />
        </>
      )}
    </div>
  );
}

const HMAC = { name: 'HMAC', hash: 'SHA-256' };

interface Found {
  readonly verdict: Verdict;
  /** A change that is known explains why the signature does not match. */
  readonly isExplained: boolean;
}

/**
 * Verifies a request in the browser (`judge` has the rules). The secret does not leave the page. `keys`: those of the
 * platform, which has made a signature v1a where there is one.
 */
async function verifyHere(given: Given, keys: readonly PlatformKey[]): Promise<Found> {
  const form = await signedForm(given);
  return { verdict: judge(given, form, await platformCheck(given, keys)), isExplained: form !== undefined };
}

async function signedForm({ request, secret }: Given): Promise<Form | undefined> {
  const signatures = signaturesOf(request);
  for (const form of formsOf(request, secret)) {
    if (form.key.length === 0) continue;
    const key = await crypto.subtle.importKey('raw', form.key, HMAC, false, ['sign']);
    const made = new Uint8Array(await crypto.subtle.sign(HMAC.name, key, form.message));
    const text = btoa(String.fromCharCode(...made));
    if (signatures.some((signature) => areEqual(signature, text))) return form;
  }
  return undefined;
}
