import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useSession } from '../../api/session.ts';
import { Button, Copy, Field, Form, Id } from '../../parts/controls.tsx';
import { ErrorPanel, Panel, ReadTable, Shown, useTitle, Way } from '../../parts/screen.tsx';
import { foreign, Outcome, Time, toneOf } from '../../parts/text.tsx';
import { inWords } from '../../parts/words.ts';
import { command, useChange, useCommand, useId } from '../api.ts';
import type { Endpoint, Key, MerchantLook } from '../shapes.ts';
import { Changes } from '../trail/audit-page.tsx';
import { MerchantState } from './merchants-page.tsx';

const EVERY_MS = 5000;
const CHANGES = 20;
const ENDPOINTS = 100;

/** "Acme gets nothing since two: why?" */
export function MerchantPage() {
  const id = useId();
  const merchant = useCommand('merchants-get', { id }, EVERY_MS);
  useTitle(merchant.data?.name ?? 'Merchant');
  return (
    <Shown query={merchant}>
      {(look) => (
        <>
          <Head look={look} />
          <Endpoints merchant={id} />
          <Keys merchant={id} />
          <LastChanges merchant={id} />
        </>
      )}
    </Shown>
  );
}

const timeOr = (at: string | null, none: string) => (at === null ? none : <Time at={at} />);

function Head({ look }: { readonly look: MerchantLook }) {
  const { merchantId, name, state, stateSince, owed, held, isMore, lastEvent, lastEventAt } = look;
  return (
    <Panel heading="h1" kind="merchant" title={name}>
      <p className="facts">
        <Id id={merchantId} what="the merchant's id" />
      </p>
      <p>
        <MerchantState state={state} /> {stateSince === null ? '' : 'since '}
        {timeOr(stateSince, '')}
        {' · '}
        <Way to="/deliveries" search={{ merchant: merchantId }}>
          {owed}
          {isMore ? ' or more' : ''} owed
        </Way>
        {held > 0 ? `, all of them held` : ''}
        {' · last event '}
        {lastEvent === null ? 'never' : <Way to={`/events/${lastEvent}`}>{timeOr(lastEventAt, '')}</Way>}
      </p>
      <Hold id={merchantId} isPaused={state === 'paused'} />
      <OpenAsMerchant id={merchantId} />
    </Panel>
  );
}

function Endpoints({ merchant }: { readonly merchant: string }) {
  const given = { merchant, limit: ENDPOINTS };
  const page = useCommand('endpoints-list', given, EVERY_MS);
  return (
    <Panel title="Endpoints">
      <ReadTable
        label="Endpoints"
        none="It has none: its events are accepted, and sent nowhere."
        query={page}
        rowsOf={({ items }) => items}
        keyOf={({ endpointId }) => endpointId}
        columns={{
          endpoint: (endpoint) => <NameOf endpoint={endpoint} />,
          status: (endpoint) => <StateOf endpoint={endpoint} />,
          'failing since': ({ failureCount: count, lastSuccessAt: at }) =>
            count === 0 ? '–' : <Noted note={`${count} in a row`}>{timeOr(at, 'its first attempt')}</Noted>,
          'last failure': ({ lastFailureAt: at, lastFailureCode: code, lastResponseStatus: status }) => (
            <Noted note={code && `${code} ${status ?? ''}`}>{timeOr(at, '–')}</Noted>
          ),
          'last success': ({ lastSuccessAt: at }) => timeOr(at, 'never'),
        }}
      />
      {page.data?.next == null ? null : <p className="note">These are the newest {ENDPOINTS}.</p>}
    </Panel>
  );
}

/** The text of a cell, with a note below it. */
function Noted({ note, children }: { readonly note: ReactNode; readonly children: ReactNode }) {
  return (
    <>
      {children}
      {note === null ? null : <div className="note">{note}</div>}
    </>
  );
}

function NameOf({ endpoint: { endpointId, url, description } }: { readonly endpoint: Endpoint }) {
  return (
    <Noted note={description === null ? null : foreign(url)}>
      <Way to="/deliveries" search={{ endpoint: endpointId }} title={endpointId}>
        {foreign(description ?? url)}
      </Way>
    </Noted>
  );
}

function StateOf({ endpoint }: { readonly endpoint: Endpoint }) {
  const { status, failureCount, disabledAt, disabledReason } = endpoint;
  const isFailing = status === 'active' && failureCount > 0;
  const since = disabledAt === null ? null : <Time at={disabledAt} />;
  return (
    <Noted
      note={
        since && (
          <>
            {inWords(disabledReason ?? '')} {since}
          </>
        )
      }
    >
      <Outcome tone={isFailing ? 'bad' : toneOf(status)}>{isFailing ? 'failing' : inWords(status)}</Outcome>
    </Noted>
  );
}

function Keys({ merchant }: { readonly merchant: string }) {
  const keys = useCommand('keys-list');
  const isOwn = ({ merchantId, revokedAt }: Key) => merchantId === merchant && revokedAt === null;
  return (
    <Panel title="Keys">
      <ReadTable
        label="Keys"
        none="It has none in use."
        query={keys}
        rowsOf={(all) => all.filter(isOwn)}
        keyOf={({ keyId }) => keyId}
        columns={{
          key: ({ hint }) => <code>{hint}</code>,
          name: ({ name }) => foreign(name ?? '–'),
          'last use': ({ lastUsedAt }) => timeOr(lastUsedAt, 'never'),
        }}
      />
    </Panel>
  );
}

function LastChanges({ merchant }: { readonly merchant: string }) {
  const changes = useCommand('audit-list', { merchant, limit: CHANGES });
  return (
    <Panel title="Changes">
      <Shown query={changes}>{(list) => <Changes list={list} />}</Shown>
      <p>
        <Way to="/audit" search={{ merchant }}>
          All changes
        </Way>
      </p>
    </Panel>
  );
}

/** Puts a merchant on hold, or ends the hold. The reason is in the audit. */
function Hold({ id, isPaused }: { readonly id: string; readonly isPaused: boolean }) {
  const { mutate, isPending, error } = useChange(isPaused ? 'merchants-resume' : 'merchants-pause');
  const [reason, setReason] = useState('');
  const change = () => mutate({ id, reason: reason.trim() }, { onSuccess: () => setReason('') });
  return (
    <>
      <Form className="row act" onSubmit={change}>
        <Field label="Reason, for the audit" value={reason} onChange={setReason} maxLength={255} required />
        <Button type="submit" disabled={isPending}>
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
        <p className="note">
          {isPaused
            ? 'Resuming sends what waits, oldest first.'
            : 'Pausing holds deliveries back. Nothing is lost, and no attempt is counted.'}
        </p>
      </Form>
      <ErrorPanel error={error} />
    </>
  );
}

const MINUTES = 5;

/** Makes a link to the console as the merchant sees it, which changes nothing. */
function OpenAsMerchant({ id }: { readonly id: string }) {
  const person = useSession()?.person;
  const { mutate, data, isPending, error } = useMutation({
    mutationFn: () =>
      command('portal-link', {
        ...{ merchant: id, readOnly: true, minutes: MINUTES, person: `operator ${person}` },
      }),
  });
  if (data !== undefined)
    return (
      <p>
        <a href={data.url} target="_blank" rel="noreferrer">
          Open the merchant's console
        </a>{' '}
        <Copy text={data.url} what="the link" />{' '}
        <span className="note">Read-only, works once, within five minutes.</span>
      </p>
    );
  return (
    <>
      <p>
        <Button disabled={isPending} onClick={() => mutate()}>
          Look as the merchant
        </Button>{' '}
        <span className="note">Makes a read-only link to its console; the audit has it.</span>
      </p>
      <ErrorPanel error={error} />
    </>
  );
}
