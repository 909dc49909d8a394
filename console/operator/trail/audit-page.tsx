import { Shown } from '../../parts/shown.tsx';
import { useTitle } from '../../parts/title.ts';
import { useCommand } from '../api.ts';
import { useFilters } from '../parts/address.ts';
import { MerchantName } from '../parts/names.tsx';
import type { Change } from '../shapes.ts';
import { Changes } from './changes.tsx';

const PAGE = 100;

/** "Who changed what?" */
export function AuditPage() {
  useTitle('Audit');
  const [{ merchant, after }, set] = useFilters();
  const changes = useCommand<readonly Change[]>('audit-list', {
    limit: PAGE,
    ...(merchant === undefined ? {} : { merchant }),
    ...(after === undefined ? {} : { after }),
  });
  return (
    <section className="panel">
      <h1>Audit</h1>
      {merchant === undefined ? null : (
        <p>
          Only of <MerchantName id={merchant} />{' '}
          <button type="button" className="copy" onClick={() => set('merchant', '')}>
            Of all
          </button>
        </p>
      )}
      <Shown query={changes}>
        {(list) => (
          <>
            <Changes list={list} isOfAll={merchant === undefined} />
            <p>
              {list.length < PAGE ? null : (
                <button type="button" onClick={() => set('after', list.at(-1)?.cursor ?? '')}>
                  Older
                </button>
              )}{' '}
              {after === undefined ? null : (
                <button type="button" onClick={() => set('after', '')}>
                  Newest
                </button>
              )}
            </p>
          </>
        )}
      </Shown>
    </section>
  );
}
