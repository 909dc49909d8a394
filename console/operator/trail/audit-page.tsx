import { Button } from '../../parts/controls.tsx';
import { Screen, Shown, Table } from '../../parts/screen.tsx';
import { foreign, Time } from '../../parts/text.tsx';
import { useCommand, useFilters } from '../api.ts';
import { MerchantName } from '../names.tsx';
import type { Change } from '../shapes.ts';

const PAGE = 100;

/** "Who changed what?" */
export function AuditPage() {
  const [{ merchant, after }, set] = useFilters();
  const changes = useCommand('audit-list', { limit: PAGE, merchant, after });
  return (
    <Screen title="Audit">
      {merchant === undefined ? null : (
        <p>
          Only of <MerchantName id={merchant} />{' '}
          <Button kind="copy" onClick={() => set('merchant', '')}>
            Of all
          </Button>
        </p>
      )}
      <Shown query={changes}>
        {(list) => (
          <>
            <Changes list={list} isOfAll={merchant === undefined} />
            <p>
              {list.length < PAGE ? null : (
                <Button onClick={() => set('after', list.at(-1)?.cursor ?? '')}>Older</Button>
              )}{' '}
              {after === undefined ? null : <Button onClick={() => set('after', '')}>Newest</Button>}
            </p>
          </>
        )}
      </Shown>
    </Screen>
  );
}

interface Props {
  readonly list: readonly Change[];
  /** They are of several merchants. */
  readonly isOfAll?: boolean;
}

/** Changes with who made them, newest first. */
export function Changes({ list, isOfAll = false }: Props) {
  return (
    <Table
      label="Changes"
      none="There is no change."
      rows={list}
      keyOf={({ cursor }) => cursor}
      names="what"
      columns={{
        when: ({ at }) => <Time at={at} />,
        what: ({ action }) => action,
        // Else the kind of the one who did it.
        who: ({ person, keyName, key, actor }) => foreign(person ?? keyName ?? key ?? actor),
        ...(isOfAll && { merchant: ({ merchantId }: Change) => <MerchantName id={merchantId} /> }),
        reason: ({ details: { reason } }) => foreign(typeof reason === 'string' ? reason : '–'),
        details: ({ details }) => <Details of={details} />,
      }}
    />
  );
}

function Details({ of: { reason: _reason, ...others } }: { readonly of: Change['details'] }) {
  return (
    <div className="details">{foreign(Object.keys(others).length === 0 ? '' : JSON.stringify(others))}</div>
  );
}
