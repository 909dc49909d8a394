import { FoundThings } from '../../find/found-things.tsx';
import { Screen, Shown, useTitle } from '../../parts/screen.tsx';
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
  const found = useCommand('find', { id });
  return <Shown query={found}>{(list) => <FoundThings id={id} things={list.map(thingOf)} />}</Shown>;
}

function thingOf(found: Found) {
  const { kind, says, merchantId } = found;
  const more = merchantId === null ? null : <MerchantName id={merchantId} />;
  return { kind, says, more, place: placeOf(found) };
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
