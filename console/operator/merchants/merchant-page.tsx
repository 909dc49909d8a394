import { Foreign } from '../../parts/foreign.tsx';
import { Id } from '../../parts/id.tsx';
import { inWords, Outcome, toneOf } from '../../parts/outcome.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Time } from '../../parts/time.tsx';
import { useTitle } from '../../parts/title.ts';
import { useCommand } from '../api.ts';
import { useId } from '../parts/address.ts';
import { Panel } from '../parts/screen.tsx';
import { Table } from '../parts/table.tsx';
import { Way } from '../parts/way.tsx';
import type { Change, Endpoint, Key, MerchantLook } from '../shapes.ts';
import { Changes } from '../trail/changes.tsx';
import { Hold } from './hold.tsx';
import { MerchantState } from './merchant-state.tsx';
import { OpenAsMerchant } from './open-as-merchant.tsx';

const EVERY_MS = 5000;
const CHANGES = 20;

/** "Acme gets nothing since two: why?" */
export function MerchantPage() {
  const id = useId();
  const merchant = useCommand<MerchantLook>('merchants-get', { id }, { everyMs: EVERY_MS });
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

function Head({ look }: { readonly look: MerchantLook }) {
  const { merchantId, name, state, stateSince, owed, held, isMore, lastEvent, lastEventAt } = look;
  return (
    <section className="panel">
      <h1>
        <span className="kind">merchant</span> <Foreign text={name} />
      </h1>
      <p className="facts">
        <Id id={merchantId} what="the merchant's id" />
      </p>
      <p>
        <MerchantState state={state} />
        {stateSince === null ? null : (
          <>
            {' '}
            since <Time at={stateSince} />
          </>
        )}
        {' · '}
        <Way to="/deliveries" search={{ merchant: merchantId }}>
          {owed}
          {isMore ? ' or more' : ''} owed
        </Way>
        {held > 0 ? `, all of them held` : ''}
        {' · last event '}
        {lastEvent === null || lastEventAt === null ? (
          'never'
        ) : (
          <Way to={`/events/${lastEvent}`}>
            <Time at={lastEventAt} />
          </Way>
        )}
      </p>
      <Hold id={merchantId} state={state} />
      <OpenAsMerchant id={merchantId} />
    </section>
  );
}

function Endpoints({ merchant }: { readonly merchant: string }) {
  const page = useCommand<{ readonly items: readonly Endpoint[]; readonly next: string | null }>(
    'endpoints-list',
    { merchant, limit: 100 },
    { everyMs: EVERY_MS },
  );
  return (
    <Panel title="Endpoints">
      <Shown query={page}>
        {({ items, next }) => (
          <>
            {items.length === 0 ? <p>It has none: its events are accepted, and sent nowhere.</p> : null}
            {items.length === 0 ? null : (
              <Table
                label="Endpoints"
                columns={['Endpoint', 'Status', 'Failing since', 'Last failure', 'Last success']}
              >
                {items.map((endpoint) => (
                  <EndpointRow key={endpoint.endpointId} endpoint={endpoint} />
                ))}
              </Table>
            )}
            {next === null ? null : <p className="note">These are the newest 100.</p>}
          </>
        )}
      </Shown>
    </Panel>
  );
}

function EndpointRow({ endpoint }: { readonly endpoint: Endpoint }) {
  const { endpointId, url, description, status, failureCount, lastFailureCode, lastResponseStatus } =
    endpoint;
  const { lastSuccessAt, lastFailureAt, disabledAt, disabledReason } = endpoint;
  const isFailing = status === 'active' && failureCount > 0;
  return (
    <tr>
      <th scope="row">
        <Way to="/deliveries" search={{ endpoint: endpointId }} title={endpointId}>
          <Foreign text={description ?? url} />
        </Way>
        {description === null ? null : (
          <div className="note">
            <Foreign text={url} />
          </div>
        )}
      </th>
      <td>
        <Outcome tone={isFailing ? 'bad' : toneOf(status)}>{isFailing ? 'failing' : inWords(status)}</Outcome>
        {disabledAt === null ? null : (
          <div className="note">
            {inWords(disabledReason ?? '')} <Time at={disabledAt} />
          </div>
        )}
      </td>
      <td>
        {failureCount === 0 ? (
          '–'
        ) : lastSuccessAt === null ? (
          'its first attempt'
        ) : (
          <Time at={lastSuccessAt} />
        )}
        {failureCount === 0 ? null : <div className="note">{failureCount} in a row</div>}
      </td>
      <td>
        {lastFailureAt === null ? '–' : <Time at={lastFailureAt} />}
        {lastFailureCode === null ? null : (
          <div className="note">
            {lastFailureCode} {lastResponseStatus}
          </div>
        )}
      </td>
      <td>{lastSuccessAt === null ? 'never' : <Time at={lastSuccessAt} />}</td>
    </tr>
  );
}

function Keys({ merchant }: { readonly merchant: string }) {
  const keys = useCommand<readonly Key[]>('keys-list');
  return (
    <Panel title="Keys">
      <Shown query={keys}>
        {(all) => {
          const own = all.filter(
            ({ merchantId, revokedAt }) => merchantId === merchant && revokedAt === null,
          );
          if (own.length === 0) return <p>It has none in use.</p>;
          return (
            <Table label="Keys" columns={['Key', 'Name', 'Last use']}>
              {own.map(({ keyId, hint, name, lastUsedAt }) => (
                <tr key={keyId}>
                  <th scope="row">
                    <code>{hint}</code>
                  </th>
                  <td>
                    <Foreign text={name ?? '–'} />
                  </td>
                  <td>{lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />}</td>
                </tr>
              ))}
            </Table>
          );
        }}
      </Shown>
    </Panel>
  );
}

function LastChanges({ merchant }: { readonly merchant: string }) {
  const changes = useCommand<readonly Change[]>('audit-list', { merchant, limit: CHANGES });
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
