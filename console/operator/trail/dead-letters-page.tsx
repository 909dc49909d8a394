import { Screen, Shown, Table, Way } from '../../parts/screen.tsx';
import { Time } from '../../parts/text.tsx';
import { inWords } from '../../parts/words.ts';
import { useCommand } from '../api.ts';
import { MerchantName } from '../names.tsx';
import type { Summary } from '../shapes.ts';

interface DeadLetter {
  readonly position: string;
  readonly at: string;
  readonly reason: string;
  readonly failureCode: string | null;
  readonly deliveryId: string;
  readonly merchantId: string;
  readonly type: string;
  readonly subType: string;
}

const PAGE = 100;

/** Deliveries that were given up: seven failures, or refused. */
export function DeadLettersPage() {
  const summary = useCommand<readonly Summary[]>('dead-letters-summary');
  const letters = useCommand<readonly DeadLetter[]>('dead-letters-list', { limit: PAGE });
  return (
    <Screen title="Dead letters">
      <p>
        Deliveries that failed seven times, or were refused. <Way to="/replays">A replay</Way> of what failed
        sends them again. <Way to="/runbook/HookrailDeadLetters">What to do</Way>
      </p>
      <Shown query={summary}>
        {(list) => (
          <ul className="lines">
            {list.map(({ reason, count, newest }) => (
              <li key={reason}>
                <strong>{inWords(reason)}</strong> {count}
                <span className="note">
                  newest <Time at={newest} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Shown>
      <Shown query={letters}>
        {(list) => (
          <Table
            label="Dead letters, oldest first"
            none="There is none."
            rows={list}
            keyOf={({ position }) => position}
            names="Delivery"
            columns={[
              ['Given up', ({ at }) => <Time at={at} />],
              [
                'Delivery',
                ({ deliveryId, type, subType }) => (
                  <Way to={`/deliveries/${deliveryId}`}>{`${type}/${subType}`}</Way>
                ),
              ],
              ['Merchant', ({ merchantId }) => <MerchantName id={merchantId} />],
              ['Reason', ({ reason }) => inWords(reason)],
              ['Failure', ({ failureCode }) => failureCode ?? '–'],
            ]}
          />
        )}
      </Shown>
    </Screen>
  );
}
