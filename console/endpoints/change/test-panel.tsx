import { useState } from 'react';
import { formatDuration } from '../../../client/duration.ts';
import type { FailureCode } from '../../../services/domain/attempt.ts';
import { entityKindsOf, subTypesOf, typesOf } from '../../../services/domain/catalog/catalog.ts';
import type { ApiVersion } from '../../../services/domain/endpoint.ts';
import { CODE_SIGNS } from '../../../services/domain/failures/failure-codes.ts';
import { isNoticeType, NOTICE_TYPES, type WebhookType } from '../../../services/domain/notices/notice.ts';
import { subTypesOfNotice } from '../../../services/domain/notices/notice-catalog.ts';
import { useReadOnly, useSession } from '../../api/session.ts';
import type { Endpoint, TestQueued, TestResult } from '../../api/shapes.ts';
import { Button, Field, Form } from '../../parts/controls.tsx';
import { DeliveryLink } from '../../parts/endpoint.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import { ErrorPanel, Panel } from '../../parts/screen.tsx';
import { Outcome } from '../../parts/text.tsx';
import { inWords } from '../../parts/words.ts';
import { Warnings } from '../shown.tsx';
import { sendTest, useChange } from './changes.ts';

/** The user or corporate that a test is about: it need not exist. */
const ANYBODY = '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11';

/** The subTypes that are tried first. */
const USUAL = /(SUCCESS|FULL_USER|ACTIVE)$/;

/** Returns each event of an endpoint's version, or each notice, those that it is sent first. */
function namesOf({ kind, subscribed_events: filter, api_version: version }: Endpoint): readonly string[] {
  const subTypes = (type: WebhookType) =>
    isNoticeType(type) ? subTypesOfNotice(type) : subTypesOf(type, version as ApiVersion);
  const of = (type: WebhookType) => subTypes(type).map((subType) => `${type}/${subType}`);
  const types: readonly WebhookType[] =
    kind === 'operational' ? NOTICE_TYPES : typesOf(version as ApiVersion);
  const [sent, others] = [true, false].map((is) =>
    types.filter((type) => (filter?.includes(type) ?? true) === is),
  );
  return [...(sent ?? []), ...(others ?? [])].flatMap(of);
}

/** Returns the user or corporate of a test. A notice is about neither. */
function aboutOf(type: WebhookType) {
  if (isNoticeType(type)) return {};
  return entityKindsOf(type).includes('USER') ? { user_uuid: ANYBODY } : { corporate_uuid: ANYBODY };
}

/** Returns why no test can be sent; undefined: one can. */
function useWhyNoTest(): string | undefined {
  const readOnly = useReadOnly();
  const isSandbox = useSession()?.environment === 'sandbox';
  return isSandbox ? readOnly : 'There are no tests in production: the next delivery shows whether it works.';
}

/** Sends one webhook to an endpoint, and shows what the server answers. */
export function TestPanel({ endpoint }: { readonly endpoint: Endpoint }) {
  return (
    <Panel title="Send a test">
      <p className="note">
        One webhook with a realistic body and the header <code>webhook-test: true</code>. It gets one attempt,
        is sent also while the endpoint is disabled, and does not count for the health.
      </p>
      <TestForm endpoint={endpoint} />
    </Panel>
  );
}

interface TestFormProps {
  readonly endpoint: Endpoint;
  /** The secret that signs it; absent: the one in force. */
  readonly signedWith?: 'prepared';
  /** The server has answered with 2xx. */
  readonly onAccepted?: () => void;
}

/** The form of a test, with the answer in place. */
export function TestForm({ endpoint, signedWith, onAccepted }: TestFormProps) {
  const names = namesOf(endpoint);
  const [chosen, setChosen] = useState<string>();
  const name = names.find((one) => one === chosen) ?? names.find((one) => USUAL.test(one)) ?? names[0] ?? '';
  const whyNot = useWhyNoTest();
  const { mutate, data, error, isPending } = useChange(() => {
    const [type, subType = ''] = name.split('/') as [WebhookType, string];
    const signed = signedWith === undefined ? {} : { signed_with: signedWith };
    return sendTest(endpoint.uuid, { type, subType, ...aboutOf(type), ...signed });
  });
  const accepted = ({ status }: { readonly status: string }) => {
    if (status === 'delivered') onAccepted?.();
  };
  const send = () => mutate(undefined, { onSuccess: accepted });
  return (
    <>
      <Form className="row at-end" onSubmit={send}>
        <Field
          label={endpoint.kind === 'operational' ? 'Notice' : 'Event'}
          value={name}
          options={names}
          onChange={setChosen}
        />
        <Button
          type="submit"
          kind="primary"
          busy={isPending && 'Waiting for the answer…'}
          disabled={whyNot !== undefined}
        >
          Send test
        </Button>
      </Form>
      {whyNot === undefined ? null : <p className="note">{whyNot}</p>}
      <ErrorPanel error={error} />
      <div role="status">
        {data === undefined || isPending ? null : <Answer uuid={endpoint.uuid} answer={data} />}
      </div>
    </>
  );
}

function Answer({ uuid, answer }: { readonly uuid: string; readonly answer: TestResult | TestQueued }) {
  const result = 'response_status' in answer ? answer : undefined;
  const code = result?.failure_code as FailureCode | null | undefined;
  const sign = code ? CODE_SIGNS[code] : undefined;
  const { response_status: status, duration_ms: ms, response_body_preview: body } = result ?? {};
  return (
    <div className="stack answer-of-test">
      <p>
        <Outcome tone={result === undefined ? 'wait' : code ? 'bad' : 'good'}>
          {status ? `HTTP ${status}` : (code ?? inWords(answer.status))}
        </Outcome>{' '}
        {typeof ms === 'number' ? `after ${formatDuration(ms)} ` : 'The answer did not come in time: see '}
        <DeliveryLink endpoint={uuid} id={answer.delivery_uuid}>
          Request and response
        </DeliveryLink>
      </p>
      {sign === undefined ? null : <p>{`${sign.says} ${sign.remedy}`}</p>}
      <Warnings all={answer.warnings} />
      {body ? <JsonText text={body} what="the body of the answer" /> : null}
    </div>
  );
}
