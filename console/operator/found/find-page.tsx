import { Navigate } from '@tanstack/react-router';
import { Panel, Screen, Shown, useTitle, Way } from '../../parts/screen.tsx';
import { Sentence } from '../../parts/text.tsx';
import { inWords } from '../../parts/words.ts';
import { useCommand, useId } from '../api.ts';
import { MerchantName } from '../names.tsx';
import type { Found } from '../shapes.ts';

/** The screen before anything is looked up. */
export function FindPage() {
  return (
    <Screen title="Find">
      <p>
        Paste any id into the field above: of a transaction, a user, an event, a delivery, an endpoint, a
        replay, a key, a request or a merchant. The name of a merchant does as well.
      </p>
    </Screen>
  );
}

/** "What became of this?", whichever merchant it belongs to. */
export function FoundPage() {
  const id = useId();
  useTitle(`Find ${id}`);
  const found = useCommand<readonly Found[]>('find', { id });
  return (
    <Shown query={found}>
      {(list) => {
        const [first, ...others] = list;
        const only = others.length === 0 && first ? placeOf(first) : undefined;
        if (only !== undefined) return <Navigate to={only as never} replace />;
        return (
          <Panel heading="h1" title={<code>{id}</code>}>
            <ul className="found">
              {list.map((one) => (
                <Line key={`${one.kind} ${one.merchantId}`} found={one} />
              ))}
            </ul>
          </Panel>
        );
      }}
    </Shown>
  );
}

function Line({ found }: { readonly found: Found }) {
  const place = placeOf(found);
  return (
    <li>
      <span className="chip">{inWords(found.kind)}</span> <Sentence text={found.says} />{' '}
      {found.merchantId === null ? null : <MerchantName id={found.merchantId} />}{' '}
      {place === undefined ? null : <Way to={place}>Show</Way>}
    </li>
  );
}

const SCREENS: Readonly<Record<string, string>> = {
  subject: '/subjects/',
  event: '/events/',
  delivery: '/deliveries/',
  merchant: '/merchants/',
  quarantined: '/subjects/',
};

/** Returns the address of a thing; of an endpoint, a key and a request that of the merchant. */
function placeOf({ kind, id, merchantId }: Found): string | undefined {
  if (kind === 'replay') return '/replays';
  if (kind === 'quarantined' && merchantId === null) return '/quarantine';
  const screen = SCREENS[kind];
  if (screen !== undefined) return screen + encodeURIComponent(id);
  return merchantId === null ? undefined : `/merchants/${merchantId}`;
}
